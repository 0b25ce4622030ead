"""The history of ratios in bench/history.jsonl, and its plot in the docs.

python bench/history.py                                  # draw docs/pictures/ratios.svg
python bench/history.py "nexmark" 1.30 "Flink SQL"       # append a ratio measured at this commit, and draw

A ratio above 1 means that scurry is so many times as fast as what it is measured beside. `floor.py --history` and
`nexmark.py --history` append theirs.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

HISTORY = Path(__file__).with_name("history.jsonl")
PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "ratios.svg"

STYLE = """\
  <style>
    text { fill: #0f172a } .ground { fill: #ffffff } .line { stroke: #64748b; fill: none }
    .good { stroke: #15803d; fill: #15803d }
    @media (prefers-color-scheme: dark) {
      text { fill: #e2e8f0 } .ground { fill: #1e293b } .line { stroke: #94a3b8; fill: none }
      .good { stroke: #4ade80; fill: #4ade80 }
    }
  </style>"""
#: Pixels: of a case, of the plot within it, and where the plot begins, behind the longest name.
_WIDTH, _HEIGHT, _PLOT, _LEFT = 660, 76, 130, 370


def append(found: Iterable[dict[str, Any]]) -> None:
    """Append ratios measured at the current commit.

    Args:
        found: For each: `case`, `beside`, `ratio`, and any other figures.
    """
    for figures in found:
        record(HISTORY, figures)


def record(file: Path, figures: dict[str, Any]) -> None:
    """Append figures to a file of lines of JSON, with the day and the current commit."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True)
    day = datetime.now(UTC).strftime("%Y-%m-%d")
    with open(file, "a", encoding="utf-8") as out:
        out.write(json.dumps({"day": day, "commit": commit.stdout.strip(), **figures}) + "\n")


def drawn(lines: Iterable[str]) -> str:
    """Return the plot of a history: for each case its ratios in their order, on a logarithmic axis of its own."""
    cases: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for line in lines:
        figures = json.loads(line)
        cases.setdefault((figures["case"], figures["beside"]), []).append(figures)
    height = 16 + _HEIGHT * len(cases)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}" '
        'font-family="sans-serif" font-size="13" role="img">'
    )
    body = [
        f'  <rect width="{_WIDTH}" height="{height}" class="ground"/>',
        *(_case(8 + _HEIGHT * place, *names, found) for place, (names, found) in enumerate(cases.items())),
    ]
    return "\n".join([head, "  <title>Ratios measured over time</title>", STYLE, *body, "</svg>", ""])


def _case(top: int, case: str, beside: str, found: list[dict[str, Any]]) -> str:
    logs = [math.log(each["ratio"]) for each in found]
    low, span = min(logs), (max(logs) - min(logs)) or 1.0
    step = _PLOT // max(len(found) - 1, 1)
    points = [(_LEFT + step * place, top + 50 - round(32 * (value - low) / span)) for place, value in enumerate(logs)]
    first, last = found[0], found[-1]
    parts = [
        f'  <text x="8" y="{top + 28}">{escape(case)}</text>',
        f'  <text x="8" y="{top + 46}" font-size="11">beside {escape(beside)}</text>',
        f'  <polyline points="{" ".join(f"{x},{y}" for x, y in points)}" class="line"/>',
        *(
            f'  <circle cx="{x}" cy="{y}" r="3" class="good"><title>{each["day"]}, {each["commit"]}: '
            f"{each['ratio']:g}</title></circle>"
            for (x, y), each in zip(points, found, strict=True)
        ),
        f'  <text x="{_LEFT - 4}" y="{top + 68}" font-size="11">{first["ratio"]:g} on {first["day"]}</text>',
    ]
    if len(found) > 1:
        label = f"{last['ratio']:g} on {last['day']}"
        parts.append(f'  <text x="{_LEFT + _PLOT + 10}" y="{points[-1][1] + 4}" font-size="12">{label}</text>')
    return "\n".join(parts)


def main() -> None:
    """Append what the arguments say, and draw the plot."""
    if len(sys.argv) > 1:
        case, ratio, beside = sys.argv[1:4]
        append([{"case": case, "beside": beside, "ratio": float(ratio)}])
    PICTURE.write_text(drawn(HISTORY.read_text(encoding="utf-8").splitlines()), encoding="utf-8")


if __name__ == "__main__":
    main()
