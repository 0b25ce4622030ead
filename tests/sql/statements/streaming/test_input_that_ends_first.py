"""The end of one input makes no row of another late: in a batch it comes last."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.statements.tables import environment, rows

COLUMNS = "row_time TIMESTAMP(3), num INT, id STRING, WATERMARK FOR row_time AS row_time - INTERVAL '1' SECOND"
LEFT = "2020-04-15 12:02:00,1,L1\n2020-04-15 12:06:00,2,L2\n2020-04-15 12:03:00,3,L3\n"
#: its last row is behind the last watermark of the right input, which is 12:04:59
BEHIND = "2020-04-15 12:02:00,1,L1\n2020-04-15 12:08:00,2,L2\n2020-04-15 12:05:30,3,L3\n"
RIGHT = "2020-04-15 12:01:00,2,R2\n2020-04-15 12:04:00,3,R3\n2020-04-15 12:05:00,4,R4\n"
WINDOW = "SELECT * FROM TABLE(TUMBLE(TABLE {}, DESCRIPTOR(row_time), INTERVAL '5' MINUTES))"
L, R = WINDOW.format("l"), WINDOW.format("r")
BY_WINDOW = "l.window_start = r.window_start AND l.window_end = r.window_end"
BOTH = "SELECT * FROM behind UNION ALL SELECT * FROM r"

#: query -> rows, in which L3, which is out of order, is not missing
QUERIES: dict[str, tuple[str, list[tuple[Any, ...]]]] = {
    "window join": (
        f"SELECT l.id, r.id FROM ({L}) l JOIN ({R}) r ON l.num = r.num AND {BY_WINDOW}",
        [("L3", "R3")],
    ),
    "full window join": (
        f"SELECT l.id, r.id FROM ({L}) l FULL JOIN ({R}) r ON l.num = r.num AND {BY_WINDOW}",
        [("L1", None), ("L2", None), ("L3", "R3"), (None, "R2"), (None, "R4")],
    ),
    "semi join of windows": (
        f"SELECT id FROM ({L}) l WHERE num IN (SELECT num FROM ({R}) r WHERE {BY_WINDOW})",
        [("L3",)],
    ),
    "interval join": (
        "SELECT l.id, r.id FROM l LEFT JOIN r ON l.num = r.num "
        "AND r.row_time BETWEEN l.row_time - INTERVAL '2' MINUTES AND l.row_time + INTERVAL '2' MINUTES",
        [("L1", None), ("L2", None), ("L3", "R3")],
    ),
    "window of a union": (
        f"SELECT MIN(id), COUNT(*) FROM ({WINDOW.format('both')}) GROUP BY window_start, window_end",
        [("L1", 3), ("L2", 3)],
    ),
    "over a union": (
        "SELECT id, COUNT(*) OVER (ORDER BY row_time RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW) "
        "FROM both",
        [("L1", 2), ("L2", 6), ("L3", 5), ("R2", 1), ("R3", 3), ("R4", 4)],
    ),
    "patterns in a union": (
        "SELECT * FROM both MATCH_RECOGNIZE (ORDER BY row_time MEASURES A.id AS a, B.id AS b "
        "PATTERN (A B) DEFINE A AS A.id = 'R4', B AS B.id = 'L3')",
        [("R4", "L3")],
    ),
    "temporal join": (
        "SELECT l.id, v.id FROM l LEFT JOIN versions FOR SYSTEM_TIME AS OF l.row_time AS v ON l.num = v.num",
        [("L1", None), ("L2", "R2"), ("L3", None)],
    ),
}


@pytest.mark.parametrize("runner", ["local", pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.nightly])])
@pytest.mark.parametrize("name", QUERIES)
def test_the_end_of_the_right_input_makes_no_row_of_the_left_late(name: str, runner: str, tmp_path: Path) -> None:
    env = environment(**{"parallelism.default": "1", "scurry.runner": runner})
    for table, text in (("l", LEFT), ("behind", BEHIND), ("r", RIGHT)):
        (tmp_path / table).write_text(text)
        options = f"'connector' = 'filesystem', 'path' = '{tmp_path / table}', 'format' = 'csv'"
        env.execute_sql(f"CREATE TABLE {table} ({COLUMNS}) WITH ({options})")
    env.execute_sql(f"CREATE VIEW `both` AS {BOTH}")
    keyed = COLUMNS + ", PRIMARY KEY (num) NOT ENFORCED"
    options = f"'connector' = 'filesystem', 'path' = '{tmp_path / 'r'}', 'format' = 'csv'"
    env.execute_sql(f"CREATE TABLE versions ({keyed}) WITH ({options})")
    query, expected = QUERIES[name]
    found = rows(env, query.replace("both", "`both`"))
    assert found == sorted(expected, key=str)
