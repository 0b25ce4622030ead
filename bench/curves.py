"""The curves of scale in bench/curves.jsonl, and their figure in the docs.

    python bench/curves.py                    # draw docs/pictures/scale.svg

`scale.py CURVE --history` appends what it measures. Each curve has a plot, whose axes are logarithmic:
a line that rises as steeply as the dotted one is linear. The last figure of each point is drawn.
"""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from xml.sax.saxutils import escape

from history import STYLE

KEPT = Path(__file__).with_name("curves.jsonl")
PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "scale.svg"
#: Pixels: of a plot with its legend, of the plot alone, and of a line of the legend; plots in a row.
_WIDTH, _HEIGHT, _PLOT_WIDTH, _PLOT_HEIGHT, _LINE, _COLUMNS = 400, 280, 340, 150, 14, 2
_DASHES = ("", "6 3", "2 3", "8 3 2 3", "1 4", "12 4", "4 1", "10 2 2 2")

Point = tuple[int, float]


def keep(curve: str, count: int, found: dict[str, float]) -> None:
    """Append the figures of one count, measured at the current commit."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True)
    head = {"day": datetime.now(UTC).strftime("%Y-%m-%d"), "commit": commit.stdout.strip()}
    with open(KEPT, "a", encoding="utf-8") as out:
        for what, value in found.items():
            out.write(json.dumps({**head, "curve": curve, "count": count, "what": what, "value": value}) + "\n")


def drawn(lines: Iterable[str]) -> str:
    """Return the figure: a plot of each curve."""
    curves: dict[str, dict[str, dict[int, float]]] = {}
    for line in lines:
        point = json.loads(line)
        curves.setdefault(point["curve"], {}).setdefault(point["what"], {})[point["count"]] = point["value"]
    width, height = _COLUMNS * _WIDTH, _HEIGHT * math.ceil(len(curves) / _COLUMNS)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="12" role="img">'
    )
    body = [f'  <rect width="{width}" height="{height}" class="ground"/>']
    for place, (name, costs) in enumerate(sorted(curves.items())):
        left, top = 8 + _WIDTH * (place % _COLUMNS), 20 + _HEIGHT * (place // _COLUMNS)
        body += _plot(left, top, name, {what: sorted(points.items()) for what, points in costs.items()})
    return "\n".join([head, "  <title>Costs against counts</title>", STYLE, *body, "</svg>", ""])


def _plot(left: int, top: int, name: str, costs: dict[str, list[Point]]) -> list[str]:
    """Return a curve: its costs as lines against the counts, the linear one dotted, and below them the legend."""
    points = [(math.log10(count), math.log10(value)) for each in costs.values() for count, value in each if value > 0]
    low_x, high_x = min(x for x, _ in points), max(x for x, _ in points)
    low_y, high_y = min(y for _, y in points), max(y for _, y in points)
    span_x, span_y = high_x - low_x or 1.0, high_y - low_y or 1.0

    def at(x: float, y: float) -> str:
        right, down = (x - low_x) / span_x, 1 - (y - low_y) / span_y
        return f"{left + _PLOT_WIDTH * right:.0f},{top + 8 + _PLOT_HEIGHT * down:.0f}"

    rise = min(span_x, span_y)
    linear = f"{at(low_x, low_y)} {at(low_x + rise, low_y + rise)}"
    parts = [
        f'  <text x="{left}" y="{top}" font-weight="bold">{escape(name)}</text>',
        f'  <polyline points="{linear}" class="line" stroke-dasharray="1 3"/>',
    ]
    for number, (what, found) in enumerate(costs.items()):
        at_all = [at(math.log10(count), math.log10(value)) for count, value in found if value > 0]
        dash = f' stroke-dasharray="{dashes}"' if (dashes := _DASHES[number % len(_DASHES)]) else ""
        parts.append(f'  <polyline points="{" ".join(at_all)}" class="good" style="fill:none"{dash}/>')
        parts += [
            f'  <circle cx="{point.split(",")[0]}" cy="{point.split(",")[1]}" r="3" class="good"><title>'
            f"{escape(what)}, {count:,}: {value:.3g}</title></circle>"
            for point, (count, value) in zip(at_all, found, strict=False)
        ]
        y = top + _PLOT_HEIGHT + 30 + _LINE * number
        first, last = found[0], found[-1]
        parts.append(f'  <polyline points="{left},{y - 4} {left + 26},{y - 4}" class="good"{dash}/>')
        parts.append(
            f'  <text x="{left + 32}" y="{y}" font-size="11">{escape(what)}: {first[1]:.3g} at {first[0]:,}, '
            f"{last[1]:.3g} at {last[0]:,}</text>"
        )
    return parts


if __name__ == "__main__":
    PICTURE.write_text(drawn(KEPT.read_text(encoding="utf-8").splitlines()), encoding="utf-8")
