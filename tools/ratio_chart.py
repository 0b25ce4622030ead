"""Draw docs/pictures/beside.svg, the chart of the front page, from the table of docs/performance.md.

python tools/ratio_chart.py
"""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
PAGE, PICTURE = DOCS / "performance.md", DOCS / "pictures" / "beside.svg"

#: Beginning of a row of the table -> text of the bar.
FASTER = {
    "W1: keyed count": "keyed count, PyFlink",
    "W2: tumbling windows": "tumbling windows, PyFlink",
    "W3: Yahoo benchmark": "Yahoo benchmark, PyFlink",
    "a backlog of 5 M records in Kafka": "backlog in Kafka, PyFlink",
    "Yahoo benchmark from Kafka to Kafka": "Kafka to Kafka, PyFlink",
    "W4: Yahoo benchmark in SQL": "Yahoo benchmark, Flink SQL",
    "Nexmark in SQL, 23 queries, 3 M events": "Nexmark, mini-batches, Flink SQL",
    "Nexmark in SQL, 23 queries, 500 k": "Nexmark, each change, Flink SQL",
    "`a` followed by `b`": "pattern, Flink's CEP in Java",
}
#: Here the ratio is of times: above 1, scurry is slower.
SLOWER = {"latency, 1,000 records/s": "latency of a record, PyFlink"}
_STYLE = """\
  <style>
    text { fill: #0f172a } .ground { fill: #ffffff } .line { stroke: #64748b }
    .good { fill: #15803d } .bad { fill: #b45309 }
    @media (prefers-color-scheme: dark) {
      text { fill: #e2e8f0 } .ground { fill: #1e293b } .line { stroke: #94a3b8 }
      .good { fill: #4ade80 } .bad { fill: #fbbf24 }
    }
  </style>"""
_LEFT, _UNIT, _ROW, _WIDTH = 250, 13, 26, 640


def ratios(page: str) -> list[tuple[str, float, bool]]:
    """Return text, ratio and whether scurry is faster, for each bar; of several ratios the least favourable."""
    rows = [re.split(r" *\| *", line)[1:-1] for line in page.splitlines() if line.startswith("| ")]
    found = []
    for faster, names in ((True, FASTER), (False, SLOWER)):
        for begins, text in names.items():
            (cells,) = [cells for cells in rows if cells[0].startswith(begins)]
            numbers = [float(number) for number in re.findall(r"\d+(?:\.\d+)?", cells[3].partition("(")[0])]
            found.append((text, min(numbers) if faster else max(numbers), faster))
    return found


def drawn(page: str) -> str:
    """Return the chart of a page's ratios."""
    bars = ratios(page)
    height = 66 + _ROW * len(bars)
    shapes = ['<text x="14" y="24" font-weight="bold">Throughput, as a multiple of what is beside it</text>']
    y = 38
    for text, ratio, faster in bars:
        if not faster:
            y += 10
        shapes.append(f'<text x="{_LEFT - 8}" y="{y + 14}" text-anchor="end">{text}</text>')
        width, kind, slower = round(_UNIT * ratio), "good" if faster else "bad", "" if faster else " the time: slower"
        shapes.append(f'<rect x="{_LEFT}" y="{y + 2}" width="{width}" height="16" class="{kind}"/>')
        shapes.append(f'<text x="{_LEFT + width + 6}" y="{y + 14}">{ratio:g} ×{slower}</text>')
        y += _ROW
    one = _LEFT + _UNIT
    shapes.append(f'<path d="M{one} 36V{height - 10}" class="line" stroke-dasharray="3 3"/>')
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}" '
        'font-family="sans-serif" font-size="13" role="img">',
        "  <title>Measured ratios; the dashed line is 1</title>",
        _STYLE,
        f'  <rect x="0" y="0" width="{_WIDTH}" height="{height}" class="ground"/>',
        *shapes,
        "</svg>\n",
    ])  # fmt: skip


if __name__ == "__main__":
    PICTURE.write_text(drawn(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
