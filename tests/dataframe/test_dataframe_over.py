"""Aggregates over the rows around each row."""

from __future__ import annotations

import datetime
from typing import Any

import pyarrow as pa
import pytest

import scurry.dataframe as pf
from scurry.table.expressions import CURRENT_ROW

SECOND = datetime.timedelta(seconds=1)


def sums(*args: Any, **kwargs: Any) -> list[int]:
    start = datetime.datetime(2026, 1, 1)
    data = pa.table({"ts": [start + SECOND * each for each in (1, 5, 12)], "k": [1, 1, 1], "v": [10, 20, 5]})
    df = pf.from_arrow(data, watermark=("ts", "ts - INTERVAL '1' SECOND"))
    found = df.select("ts", s=pf.col("v").sum.over(*args, **kwargs)).collect()
    return [row[1] for row in sorted(found, key=lambda row: row[0])]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, [10, 30, 35]),
        ({"partition_by": "k"}, [10, 30, 35]),
        ({"partition_by": ["k", pf.col("k")]}, [10, 30, 35]),
        ({"rows": 1}, [10, 30, 25]),
        ({"rows": 2}, [10, 30, 35]),
        ({"rows": pf.UNBOUNDED}, [10, 30, 35]),
        ({"rows": (pf.UNBOUNDED_PRECEDING, pf.CURRENT_ROW)}, [10, 30, 35]),
        ({"rows": (pf.preceding(1), pf.CURRENT_ROW)}, [10, 30, 25]),
        ({"range": 5 * SECOND}, [10, 30, 5]),
        ({"range": "7 s"}, [10, 30, 25]),
        ({"range": (pf.preceding("1 min"), pf.CURRENT_ROW)}, [10, 30, 35]),
    ],
)
@pytest.mark.parametrize("order", ["ts", pf.col("ts")])
def test_frames(mode: str, order: Any, arguments: Any, expected: list[int]) -> None:
    assert sums(order, **arguments) == expected


def test_frames_behind_the_row(batch: None) -> None:
    assert sums("ts", rows=(pf.preceding(1), pf.following(1))) == [30, 35, 25]
    assert sums("ts", rows=(pf.CURRENT_ROW, pf.UNBOUNDED_FOLLOWING)) == [35, 25, 5]
    assert sums(pf.col("ts").desc, rows=1) == [30, 25, 5]


def test_streaming_has_no_frames_behind_the_row() -> None:
    with pytest.raises(ValueError, match="OVER RANGE FOLLOWING windows are not supported yet"):
        sums("ts", rows=(pf.preceding(1), pf.following(1)))


def test_have_the_plan_of_sql(mode: str) -> None:
    df = pf.from_dict({"ts": [datetime.datetime(2026, 1, 1)], "v": [1]}, watermark=("ts", "ts"))
    environment = pf.get_or_create_table_environment()
    environment.create_temporary_view("events", df.to_table())
    query = "SELECT SUM(v) OVER (ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s FROM events"
    assert df.select(s=pf.col("v").sum.over("ts", rows=1)).explain() == environment.sql_query(query).explain()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rows": 1, "range": SECOND}, "rows and range are mutually exclusive"),
        ({"rows": 0}, "row interval must be larger than 0"),
        ({"rows": True}, "row interval must not be bool"),
        ({"rows": (pf.CURRENT_ROW,)}, "frame tuple must contain exactly two-element bounds"),
        ({"rows": (pf.following(1), pf.CURRENT_ROW)}, "invalid lower bound direction"),
        ({"rows": (pf.CURRENT_ROW, pf.preceding(1))}, "invalid upper bound direction"),
        ({"partition_by": []}, "partition_by must not be empty"),
        ({"partition_by": 1}, "partition_by must be a column name, Expression, or a list of them"),
        ({"range": "INTERVAL '1' HOUR"}, "range must be a valid duration string"),
        (
            {"rows": (CURRENT_ROW, pf.CURRENT_ROW)},
            "Use pyflink.dataframe.CURRENT_ROW for DataFrame OVER frame bounds",
        ),
    ],
)
def test_wrong_windows(arguments: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        pf.col("v").sum.over("ts", **arguments)


def test_the_order_is_a_column() -> None:
    with pytest.raises(TypeError, match="order_by must be a column name or Expression"):
        pf.col("v").sum.over(1, rows=1)
