"""The page's trace browser as its readers use it: in headless Chromium, by keyboard, without a network."""

import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import urlopen

import pytest

from rollout.records.traces import read_trace
from training.reporting.report import render
from training.reporting.traces import Shown, Survey

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
connect = pytest.importorskip("websockets.sync.client").connect
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
ATTACK = "</script><script>document.title='cracked'</script><img src=x onerror=\"document.title='cracked'\">"
PROOF = [
    {"statement": "(impus rex)", "by": "axiom"},
    {"statement": "(impus 'x) -> (wumpus 'x)", "by": "axiom"},
    {"statement": "(wumpus rex)", "by": "rule", "rule": 1, "premises": [0]},
]
TEXT = "1- [[axiom:(impus rex)]] 2- [[axiom:(impus 'x) -> (wumpus 'x)]]\n[[goal:(wumpus rex)]] [[infer:(wumpus rex)]]"


def shown(number: int, arm: str, verdict: str, answer: str, completion: str = TEXT) -> Shown:
    certificate = {"evidence": {"goal": "(wumpus rex)", "steps": PROOF}, "formalisation": "checked", "digest": "abc"}
    problem = {
        "id": f"q{number}",
        "dataset": "prontoqa" if number % 2 else "proofwriter",
        "context": "Rex is an impus. Every impus is a wumpus.",
        "question": f"Is Rex a wumpus of kind {number}?",
        "answer": "true",
        "formal": {"axioms": ["(impus rex)", "(impus 'y) -> (wumpus 'y)"], "goal": "(wumpus rex)"},
        "meta": {"hops": 1},
    }
    judgement = {"verdict": verdict, "reason": "proved" if verdict == "certified" else "goal_not_reached"}
    judgement |= {"answer": answer, "feedback": None, "certificate": certificate if verdict == "certified" else None}
    trace = {
        "id": f"q{number}#0",
        "problem": problem,
        "format": "guided",
        "completion": completion,
        "judgement": judgement,
    }
    return Shown(arm, 0, 1 + number % 2, read_trace(trace))


TRACES = [
    *(shown(i, "strict", "certified", "true") for i in range(3)),
    *(shown(i, "naive", "unproved", "true", "Answer: true, zebra") for i in range(3, 6)),
    shown(6, "naive", "refuted", "false"),
    shown(7, "naive", "unproved", "true", ATTACK),
]


def summary() -> dict[str, Any]:
    cell: dict[str, Any] = {"n": 10, "accuracy": 0.5, "certified": 0.2, "lucky": 0.3}
    cell |= {f"{rate}_interval": [0.1, 0.9] for rate in ("accuracy", "certified", "lucky")}
    cell |= {f"{metric}_{how}": None for metric in ("accuracy", "certified") for how in ("greedy", "guided")}
    cell |= {"kept": 0, "funnel": None, "answers": None, "verdicts": {}, "reasons": {}, "grades": {}}
    cell |= {"by_hops": {}, "by_condition": {}, "by_dataset": {}}
    arm = {"decoding": "free", "keep": None, "seeds": [0], "rounds": [{"round": number, **cell} for number in (0, 1)]}
    origin = {"name": "a run", "evaluation": {}, "statistics": {}}
    told = {"square": [], "primary": None, "bases": 1, "comparisons": [], "provenance": origin}
    return {"arms": {"strict": arm, "naive": arm}, **told}


class Browser:
    """A page in headless Chromium, driven by the DevTools protocol."""

    def __init__(self, socket: Any) -> None:
        self.socket = socket
        self.num_sent = 0
        self.events: list[dict] = []
        self.send("Network.enable")
        self.send("Log.enable")

    def send(self, method: str, **parameters: object) -> dict:
        self.num_sent += 1
        self.socket.send(json.dumps({"id": self.num_sent, "method": method, "params": parameters}))
        while (message := json.loads(self.socket.recv(timeout=30))).get("id") != self.num_sent:
            self.events.append(message)
        return message["result"]

    def value(self, expression: str) -> object:
        found = self.send("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def open(self, url: str) -> None:
        self.send("Page.navigate", url="about:blank")
        self.send("Page.navigate", url=url)
        for _ in range(300):
            if self.value("document.readyState") == "complete" and self.value("location.protocol") == "file:":
                return
            time.sleep(0.05)
        raise AssertionError(f"{url} did not load")

    def press(self, *keys: str) -> None:
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "Home": 36, "End": 35}
        for key in keys:
            text = {"text": "\r"} if key == "Enter" else {}
            event = {"key": key, "code": key, "windowsVirtualKeyCode": codes[key]}
            self.send("Input.dispatchKeyEvent", type="keyDown", **event, **text)
            self.send("Input.dispatchKeyEvent", type="keyUp", **event)

    def write(self, text: str) -> None:
        self.send("Input.insertText", text=text)

    def texts(self, selector: str) -> list[str]:
        return self.value(f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.textContent)")  # type: ignore[return-value]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    folder = tmp_path_factory.mktemp("profile")
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", "--no-first-run"]
    command += [f"--user-data-dir={folder}", "--host-resolver-rules=MAP * ~NOTFOUND", "about:blank"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        ports = (found[1] for line in process.stderr if (found := re.search(r"listening on ws://[^:]+:(\d+)/", line)))
        with urlopen(f"http://127.0.0.1:{next(ports)}/json") as reply:
            targets = json.load(reply)
        address = next(target["webSocketDebuggerUrl"] for target in targets if target["type"] == "page")
        with connect(address, max_size=None) as socket:
            yield Browser(socket)
        process.kill()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render(summary(), Survey(len(TRACES), {}, TRACES), ["It pays."]))
    return path.as_uri()


def test_search_and_filters_narrow_the_list_and_stand_in_the_address(browser, page):
    browser.open(page)
    assert browser.texts("#count") == ["8 traces"]
    browser.value("document.querySelector('[name=q]').focus()")
    browser.write("zebra kind")
    assert browser.texts("#count") == ["3 traces"]
    browser.value(
        "(() => { const e = document.querySelector('[name=dataset]'); e.value = 'proofwriter';"
        " e.dispatchEvent(new Event('input', {bubbles: true})) })()"
    )
    assert browser.texts("#hits .verdict") == ["unproved"]
    assert browser.value("location.hash") == "#q=zebra+kind&dataset=proofwriter"
    browser.value("document.querySelector('[type=reset]').click()")
    browser.open(f"{page}#verdict=certified&round=2&open={quote('strict/0/2/q1#0')}")
    assert browser.texts("#hits small") == ["strict · round 2 · right · proved"]
    assert "kind 1" in browser.texts("#opened h3")[0]


def test_a_proof_is_opened_and_read_by_keyboard_alone(browser, page):
    browser.open(f"{page}#arm=strict")
    browser.value("document.querySelector('[type=reset]').focus()")
    browser.press("Tab", "ArrowDown", "ArrowDown", "ArrowUp", "Enter")
    opened = browser.texts("#opened h3")
    assert len(opened) == 1
    assert browser.value("document.activeElement === document.querySelector('#opened h3')")
    assert browser.value("document.querySelectorAll('#opened svg .node').length") == 3
    for _ in range(8):
        browser.press("Tab")
        if browser.value("document.activeElement.dataset.step") == "2":
            break
    assert browser.texts("#opened .node.lit text") == ["(wumpus rex)"]
    assert browser.texts("#opened mark.lit") == ["[[goal:(wumpus rex)]]", "[[infer:(wumpus rex)]]"]
    assert len(browser.texts("#opened .node.premise")) == 2
    assert "Rex is an impus." in browser.texts("#opened .context mark.premise")
    assert browser.value("document.querySelectorAll('#opened .edge.lit').length") == 2
    browser.press("Escape")
    assert browser.value("document.activeElement.getAttribute('aria-current')") == "true"


def test_what_a_model_wrote_is_shown_and_never_run(browser, page):
    browser.open(f"{page}#q=cracked")
    browser.value("document.querySelector('#hits button').click()")
    assert ATTACK in browser.texts("#opened pre")[0]
    assert browser.value("document.title") == "a run – Certistar report"
    assert browser.value("document.querySelectorAll('img').length") == 0


def test_the_page_neither_asks_the_network_nor_breaks_its_own_policy(browser, page):
    browser.events.clear()
    browser.open(page)
    browser.value("document.querySelector('#hits button').click()")
    asked = {e["params"]["request"]["url"] for e in browser.events if e["method"] == "Network.requestWillBeSent"}
    assert {url.split(":")[0] for url in asked} <= {"file", "about"}
    assert not [e["params"]["entry"]["text"] for e in browser.events if e["method"] == "Log.entryAdded"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_needs_no_sideways_scrolling_and_text_has_contrast(browser, page, scheme):
    browser.send("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1, mobile=True)
    browser.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    browser.open(f"{page}#open={quote('strict/0/1/q0#0')}")
    assert browser.value("document.documentElement.scrollWidth") == 390
    low = browser.value(CONTRASTS)
    assert low == [], low
    browser.send("Emulation.clearDeviceMetricsOverride")


CONTRASTS = """(() => {
  const linear = v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
  const light = rgb => rgb.slice(0, 3).map(v => linear(v / 255))
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const parts = text => text.match(/[\\d.]+/g).map(Number);
  const behind = e => { for (; e; e = e.parentElement) { const c = parts(getComputedStyle(e).backgroundColor);
    if (c.length < 4 || c[3] === 1) return c; } return [255, 255, 255]; };
  const low = [];
  for (const e of document.querySelectorAll('body *:not(svg *):not(script):not(option)')) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || !e.checkVisibility()) continue;
    const [a, b] = [light(parts(getComputedStyle(e).color)), light(behind(e))];
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < 4.5) low.push([e.tagName, e.className, e.textContent.slice(0, 30), ratio]);
  }
  return low;
})()"""
