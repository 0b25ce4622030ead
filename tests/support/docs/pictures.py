"""Make the drawn pictures of docs/semantics.md and of the guide of SQL.

`cd tests && PYTHONPATH=. ../.venv/bin/python support/docs/pictures.py`
"""

from __future__ import annotations

from pathlib import Path

PICTURES = Path(__file__).parents[3] / "docs" / "pictures"

#: Colours by class, for a light and a dark screen.
_STYLE = """\
  <style>
    text { fill: #0f172a } .ground { fill: #ffffff } .box { fill: #eef2f7; stroke: #64748b }
    .line { stroke: #64748b; fill: none } .good { fill: #dcfce7; stroke: #15803d }
    .bad { fill: #fee2e2; stroke: #b91c1c }
    @media (prefers-color-scheme: dark) {
      text { fill: #e2e8f0 } .ground { fill: #1e293b } .box { fill: #334155; stroke: #94a3b8 }
      .line { stroke: #94a3b8 } .good { fill: #14532d; stroke: #4ade80 } .bad { fill: #7f1d1d; stroke: #f87171 }
    }
  </style>"""
_HEAD = (
    '<defs><marker id="head" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
    '<path d="M0 0L8 4L0 8" class="line"/></marker></defs>'
)


def box(x: int, y: int, width: int, text: str, kind: str = "box") -> str:
    """Return a box of 28 pixels' height with a text in its middle."""
    label = f'<text x="{x + width // 2}" y="{y + 19}" text-anchor="middle">{text}</text>'
    return f'<rect x="{x}" y="{y}" width="{width}" height="28" rx="5" class="{kind}"/>{label}'


def label(x: int, y: int, text: str) -> str:
    """Return a text that begins at a point."""
    return f'<text x="{x}" y="{y}">{text}</text>'


def arrow(*points: tuple[int, int]) -> str:
    """Return a line through points, with a head at its end."""
    path = "L".join(f"{x} {y}" for x, y in points)
    return f'<path d="M{path}" class="line" marker-end="url(#head)"/>'


def line(x1: int, y1: int, x2: int, y2: int) -> str:
    """Return a line from a point to another."""
    return f'<path d="M{x1} {y1}L{x2} {y2}" class="line"/>'


def watermarks() -> list[str]:
    """Return records as they come, each with the watermark after it; the one of 11 is out of order."""
    shapes = [label(10, 31, "record"), label(10, 81, "watermark"), arrow((100, 56), (590, 56))]
    highest = 0
    for number, time in enumerate((12, 15, 11, 21, 17, 30)):
        shapes.append(box(100 + 80 * number, 12, 60, str(time), "good" if time > highest else "box"))
        highest = max(highest, time)
        shapes.append(label(122 + 80 * number, 81, str(highest - 5 - 1)))
    return shapes


def windows() -> list[str]:
    """Return tumbling, sliding and session windows over the same axis of 20 pixels for each unit of time."""
    shapes = []
    for y, kind, bounds in (
        (10, "tumbling", [(0, 10), (10, 20)]),
        (48, "sliding", [(0, 10), (10, 20)]),
        (80, "", [(5, 15)]),
        (118, "session", [(1, 7), (12, 19)]),
    ):
        shapes.append(label(10, y + 19, kind))
        shapes += [box(100 + 20 * start, y, 20 * (end - start), f"[{start}, {end})") for start, end in bounds]
    shapes += [arrow((100, 172), (530, 172)), label(10, 176, "records at")]
    for time in (1, 2, 4, 12, 13, 16):
        shapes += [line(100 + 20 * time, 166, 100 + 20 * time, 178), label(96 + 20 * time, 194, str(time))]
    return shapes


def keyed_state() -> list[str]:
    """Return how records of keys reach the subtasks that have the state of these keys."""
    shapes = [box(4, 68, 126, "ann bob cem ann"), box(170, 68, 90, "key_by")]
    shapes += [arrow((130, 82), (170, 82)), arrow((260, 82), (310, 44)), arrow((260, 82), (310, 120))]
    for y, name, kept in ((30, "subtask 0", ("ann: 2", "cem: 1")), (106, "subtask 1", ("bob: 1",))):
        shapes.append(box(310, y, 100, name))
        shapes += [box(430 + 80 * number, y, 70, text, "good") for number, text in enumerate(kept)]
    return [*shapes, label(430, 20, "state, by key")]


def levels() -> list[str]:
    """Return the graph of two sources, a window, a join and two sinks, by level."""
    shapes = [label(10, 18, "level 0"), label(200, 18, "level 1"), label(390, 18, "level 2"), label(540, 18, "sinks")]
    shapes += [box(10, 30, 120, "orders → map"), box(10, 90, 120, "payments"), box(200, 30, 110, "window")]
    shapes += [box(390, 60, 90, "join"), box(540, 30, 90, "totals"), box(540, 90, 90, "pairs")]
    shapes += [
        arrow((130, 44), (200, 44)),
        arrow((310, 44), (360, 44), (390, 68)),
        arrow((130, 104), (360, 104), (390, 82)),
    ]
    shapes += [arrow((480, 74), (510, 74), (540, 98)), arrow((310, 38), (540, 38))]
    for x in (165, 345):
        shapes.append(line(x, 8, x, 132))
    return [*shapes, label(130, 146, "exchange"), label(312, 146, "exchange")]


def exactly_once() -> list[str]:
    """Return three micro-batches, of which the last fails and is repeated from what the one before has committed."""
    shapes = []
    for number, (text, kind) in enumerate((("batch 7", "good"), ("batch 8", "good"), ("batch 9 fails", "bad"))):
        x = 10 + 200 * number
        shapes.append(box(x, 10, 150, text, kind))
        if kind == "good":
            shapes += [arrow((x + 75, 38), (x + 75, 66)), box(x, 66, 150, "positions"), box(x, 98, 150, "state")]
            shapes += [box(x, 130, 150, "results")]
    shapes += [arrow((160, 24), (210, 24)), arrow((360, 24), (410, 24)), arrow((360, 112), (485, 112), (485, 150))]
    return [*shapes, box(410, 150, 150, "batch 9 again", "good"), label(10, 182, "committed together")]


def sql_windows() -> list[str]:
    """Return the four kinds of window over the bids of docs/sql/windows.md, 16 pixels for each minute."""
    shapes = []
    for y, kind, bounds in (
        (10, "TUMBLE", [(0, 10), (10, 20)]),
        (48, "HOP", [(0, 10), (10, 20)]),
        (80, "", [(5, 15), (15, 25)]),
        (118, "CUMULATE", [(0, 10)]),
        (150, "", [(0, 15)]),
        (182, "", [(0, 20)]),
        (220, "SESSION tea", [(5, 18)]),
        (252, "cup, pot", [(7, 16), (17, 22)]),
    ):
        shapes.append(label(10, y + 19, kind))
        shapes += [box(110 + 16 * a, y, 16 * (b - a), f"8:{a:02}-8:{b:02}") for a, b in bounds]
    shapes += [arrow((110, 306), (530, 306)), label(10, 310, "bids")]
    for minute, item in ((5, "tea"), (7, "cup"), (9, "tea"), (11, "cup"), (13, "tea"), (17, "pot")):
        shapes += [line(110 + 16 * minute, 300, 110 + 16 * minute, 312), label(100 + 16 * minute, 328, item)]
    return shapes


def sql_late() -> list[str]:
    """Return rows as they arrive, the watermark two minutes behind, and the one that comes too late."""
    shapes = [label(10, 31, "row of"), label(10, 81, "watermark"), arrow((100, 56), (590, 56))]
    rows = ((2, 0, "box"), (11, 9, "box"), (9, 9, "good"), (13, 11, "box"), (8, 11, "bad"), (26, 24, "box"))
    for number, (minute, watermark, kind) in enumerate(rows):
        shapes.append(box(100 + 80 * number, 12, 60, f"8:{minute:02}", kind))
        shapes.append(label(114 + 80 * number, 81, f"8:{watermark:02}"))
    shapes += [line(408, 8, 408, 92), label(170, 108, "window 8:00 to 8:10 fires here; the red row is dropped")]
    return shapes


def sql_daylight_saving() -> list[str]:
    """Return three days on the wall and in UTC, six pixels for each hour."""
    shapes = [label(10, 29, "Oslo"), label(10, 73, "UTC")]
    for start, hours, text, kind in (
        (0, 24, "28 March: 24 h", "box"),
        (24, 23, "29 March: 23 h", "good"),
        (47, 24, "30 March: 24 h", "box"),
    ):
        shapes.append(box(70 + 6 * start, 10, 6 * hours, text, kind))
    for start, hours, text in ((1, 24, "28 March: 24 h"), (25, 24, "29 March: 24 h"), (49, 22, "30 March")):
        shapes.append(box(70 + 6 * start, 54, 6 * hours, text))
    return [*shapes, line(226, 38, 226, 104), label(150, 120, "here clocks go from 02:00 to 03:00")]


def sql_temporal_join() -> list[str]:
    """Return the versions of two rates over time, and the orders that meet them."""
    shapes = [label(10, 29, "NOK"), label(10, 81, "orders"), label(10, 133, "USD")]
    versions = (
        (80, 10, 150, "0.08 until 8:03", "box"),
        (230, 10, 200, "0.09 until 9:00", "good"),
        (430, 10, 110, "0.10", "box"),
        (80, 114, 460, "0.90", "box"),
    )
    shapes += [box(x, y, width, text, kind) for x, y, width, text, kind in versions]
    orders = ((170, "1 at 8:00", (62, 38)), (260, "2 at 8:05", (62, 38)), (350, "3 at 8:12", (90, 114)))
    for x, text, (start, end) in orders:
        shapes += [box(x - 40, 62, 80, text), arrow((x, start), (x, end))]
    return [*shapes, arrow((80, 158), (540, 158)), label(470, 176, "event time")]


#: name -> the page that shows it, title, size, shapes
ALL = {
    "watermarks": (
        "semantics.md",
        "the watermark follows the highest timestamp at 6 ms, and never falls",
        610,
        96,
        watermarks,
    ),
    "windows": ("semantics.md", "tumbling, sliding and session windows of the same records", 550, 206, windows),
    "keyed-state": ("semantics.md", "each subtask has the state of its own keys", 600, 150, keyed_state),
    "levels": (
        "semantics.md",
        "each operator that needs an exchange is a level below its deepest input",
        640,
        156,
        levels,
    ),
    "exactly-once": (
        "semantics.md",
        "a batch that fails is repeated from what the batch before has committed",
        580,
        192,
        exactly_once,
    ),
    "sql-windows": (
        "sql/windows.md",
        "tumbling, hopping, cumulating and session windows over the same bids",
        550,
        336,
        sql_windows,
    ),
    "sql-late": (
        "sql/late-data.md",
        "a window fires when the watermark passes its end; a row that comes afterwards is late",
        610,
        116,
        sql_late,
    ),
    "sql-daylight-saving": (
        "sql/time-zones.md",
        "on 29 march 2026 the day in oslo has 23 hours",
        510,
        128,
        sql_daylight_saving,
    ),
    "sql-temporal-join": (
        "sql/joins.md",
        "an order gets the version that is valid at its time",
        560,
        186,
        sql_temporal_join,
    ),
}


def pictures() -> dict[str, str]:
    """Return name of a file -> its text."""
    return {
        f"{name}.svg": _svg(title, width, height, shapes()) for name, (_, title, width, height, shapes) in ALL.items()
    }


def _svg(title: str, width: int, height: int, shapes: list[str]) -> str:
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    ground = f'<rect width="{width}" height="{height}" rx="6" class="ground"/>'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="sans-serif" font-size="13">',
        f"  <title>{title}</title>",
        _STYLE,
        *(f"  {each}" for each in (_HEAD, ground, *shapes)),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    for name, text in pictures().items():
        (PICTURES / name).write_text(text, encoding="utf-8")
