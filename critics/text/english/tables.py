"""Tables of Markdown in a text: each cell is a sentence, and a cell that gives a source stands in brackets behind it.

| Step | Statement | Reason |
|---|---|---|
| 1 | Tom is a cat | given |            Tom is a cat (given)
"""

import re
from typing import TypeAlias

Cell: TypeAlias = tuple[int, int, int, int, int | None]
"""Start and end of a cell, the same of the cell with its source (0 and 0 for none), and the number of its row."""
_RULE = re.compile(r"\s*\|(?:\s*:?-+:?\s*\|)+\s*")
_HEAD = re.compile(
    r"\W*(?:(?P<number>#|no\.?|number|step|line)"
    r"|(?P<source>sources?|reasons?|justification|why|basis|(?:rule|premise)s? used|(?:derived )?from))?\W*",
    re.IGNORECASE,
)


def cells(line: str, after: str, kinds: list[str]) -> list[Cell] | None:
    """Return the cells of a row that are sentences, None of any other line; `kinds` are its table's columns so far."""
    if line.strip()[:1] != "|" or not (kinds or _RULE.fullmatch(after)):
        kinds.clear()
        return None
    places = [cell.span() for cell in re.finditer(r"(?<=\|)[^|]*(?=\|)", line)]
    told = [line[start:end].strip(" -:*_") for start, end in places]
    if not kinds:
        kinds += [(head.lastgroup or "number") if (head := _HEAD.fullmatch(cell)) else "said" for cell in told]
        return [(*place, 0, 0, None) for place, cell in zip(places, told, strict=True) if cell.strip("#")]
    found: list[Cell] = []
    label: int | None = None
    for place, cell, kind in zip(places, told, kinds, strict=False):
        number = re.fullmatch(r"(?:[Ss]tep )?(\d{1,3})\.?", cell)
        if kind == "number" and number:
            label = int(number[1])
        elif cell and kind == "source" and found:
            found[-1] = (*found[-1][:2], *place, label)
        elif cell:
            found.append((*place, 0, 0, label))
    return found if len(told) == len(kinds) else None
