"""The page of commands is what they say; the image in the pages is small, without paths or addresses."""

import re
from pathlib import Path
from xml.etree import ElementTree

from tools.images import FOLDER, PAGE, drawn, page
from training.cli import COMMANDS, FURTHER

MOST_BYTES = 60_000


def test_the_page_of_commands_has_the_help_of_each_as_it_is() -> None:
    written = PAGE.read_text(encoding="utf-8")
    made = page({})
    for name in (*COMMANDS, *FURTHER):
        (section,) = re.findall(rf"^## {name}\n\n(```text\n.*?^```)", made, re.MULTILINE | re.DOTALL)
        assert section in written, f"{name}: python -m tools.images"
    assert not problems_of(f"<page>{written.replace('<', '').replace('&', '')}</page>")


def problems_of(image: str) -> list[str]:
    """Say what an image must not have."""
    root = ElementTree.fromstring(image)
    text = "".join(root.itertext()).replace("\xa0", " ")
    paths = re.findall(r"(?<![\w.:/])/(?:home|root|tmp|work|Users|opt|var|mnt)\b\S*", text)
    addresses = re.findall(r"(?:href|src|url)\s*[=(]\s*[\"']?\s*(?:https?:|//)[^\"')]*", image)
    return [*paths, *addresses, *(["its size"] if len(image.encode()) > MOST_BYTES else [])]


def test_no_image_is_large_or_names_a_place() -> None:
    images: dict[Path, str] = {path: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.svg"))}
    assert not {path.name: found for path, image in images.items() if (found := problems_of(image))}


def test_a_path_of_a_machine_is_seen() -> None:
    assert problems_of(drawn("judge a", "wrote /tmp/x.jsonl")) == ["/tmp/x.jsonl"]
    assert problems_of(drawn("judge a", "wrote verdicts.jsonl; </text> & more")) == []
    assert problems_of(drawn("judge a", "\n".join(["line"] * 9_000))) == []
