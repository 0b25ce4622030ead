"""Aggregates over frames have the values that each frame aggregated on its own has."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np
import pytest

from scurry.sql.types import BigIntType, DataType, DecimalType, DoubleType, FloatType, IntType, VarCharType
from support.queries import Tables

COLUMNS: dict[str, DataType] = {
    "p": IntType(False),
    "o": IntType(False),
    "i": IntType(),
    "b": BigIntType(),
    "d": DecimalType(10, 2),
    "e": DecimalType(38, 0),
    "f": DoubleType(),
    "g": FloatType(),
    "s": VarCharType(10),
}
_random = random.Random(5)
ROWS = [
    (
        _random.choice([1, 2, 2, 2, 3]),
        order,
        _random.choice([None, 1, 2, -3, 2_147_483_647]),
        _random.choice([None, 2**63 - 1, 5, -7]),
        _random.choice([None, Decimal("0.10"), Decimal("-99999999.99"), Decimal("7.00")]),
        _random.choice([None, Decimal(10**37), Decimal(-(10**37)), Decimal(3)]),
        _random.choice([None, 0.1, -0.1, 1e17, 3.0, -1e17]),
        _random.choice([None, 0.5, 16_777_216.0, 3.0, -1.0]),
        _random.choice([None, "a", "b", "cc", ""]),
    )
    for order in range(150)
]
#: A frame, and which rows it has, by their places in the partition.
FRAMES: dict[str, Callable[[int, int], range]] = {
    "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW": lambda row, rows: range(0, row + 1),
    "ROWS BETWEEN UNBOUNDED PRECEDING AND 3 PRECEDING": lambda row, rows: range(0, max(row - 2, 0)),
    "ROWS BETWEEN UNBOUNDED PRECEDING AND 2 FOLLOWING": lambda row, rows: range(0, min(row + 3, rows)),
    "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING": lambda row, rows: range(row, rows),
    "ROWS BETWEEN 20 PRECEDING AND 5 FOLLOWING": lambda row, rows: range(max(row - 20, 0), min(row + 6, rows)),
    "ROWS BETWEEN 4 FOLLOWING AND 30 FOLLOWING": lambda row, rows: range(min(row + 4, rows), min(row + 31, rows)),
    "ROWS 1 PRECEDING": lambda row, rows: range(max(row - 1, 0), row + 1),
}
Values = list[Any]


def present(values: Values) -> Values:
    return [value for value in values if value is not None]


def added(values: Values) -> Any:
    """Return the sum in the order of the rows."""
    total = values[0]
    for value in values[1:]:
        total += value
    return total


def summed(values: Values) -> Any:
    """Return the sum of decimals, None if it ever has more than 38 digits."""
    totals = [*itertools.accumulate(int(each) for each in values)]
    return Decimal(totals[-1]) if totals and max(map(abs, totals)) < 10**38 else None


def rounded(value: Decimal) -> Decimal:
    return value.quantize(Decimal("0.000001"), ROUND_HALF_UP)


def wrapped(value: int, bits: int) -> int:
    return (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


AGGREGATES: dict[str, tuple[str, Callable[[Values], Any]]] = {
    "COUNT(s)": ("s", len),
    "SUM(i)": ("i", lambda values: wrapped(sum(values), 32) if values else None),
    "SUM(b)": ("b", lambda values: wrapped(sum(values), 64) if values else None),
    "AVG(i)": ("i", lambda values: int(Decimal(wrapped(sum(values), 32)) / len(values)) if values else None),
    "SUM(d)": ("d", lambda values: sum(values) if values else None),
    "AVG(d)": ("d", lambda values: rounded(Decimal(sum(values)) / len(values)) if values else None),
    "SUM(e)": ("e", summed),
    "SUM(f)": ("f", lambda values: added([0.0, *values]) if values else None),
    "AVG(f)": ("f", lambda values: added([0.0, *values]) / len(values) if values else None),
    "SUM(g)": ("g", lambda values: float(added([np.float32(each) for each in [0, *values]])) if values else None),
    "MIN(s)": ("s", lambda values: min(values, default=None)),
    "MAX(f)": ("f", lambda values: max(values, default=None)),
    "FIRST_VALUE(s)": ("s", lambda values: values[0] if values else None),
    "LAST_VALUE(i)": ("i", lambda values: values[-1] if values else None),
}


@pytest.fixture
def tables() -> Tables:
    found = Tables()
    found.add("t", COLUMNS, *ROWS)
    return found


def expected(aggregate: str, frame: str) -> dict[int, Any]:
    """Return the value of each row, by its order."""
    column, compute = AGGREGATES[aggregate]
    place = list(COLUMNS).index(column)
    found: dict[int, Any] = {}
    for partition in {row[0] for row in ROWS}:
        rows = [row for row in ROWS if row[0] == partition]
        for number, row in enumerate(rows):
            inside: Sequence[int] = FRAMES[frame](number, len(rows))
            found[row[1]] = compute(present([rows[each][place] for each in inside]))
    return found


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("aggregate", AGGREGATES)
def test_frames_of_rows(tables: Tables, aggregate: str, frame: str) -> None:
    found = tables.rows(f"SELECT o, {aggregate} OVER (PARTITION BY p ORDER BY o {frame}) FROM t")
    assert dict(found) == expected(aggregate, frame)


def test_a_range_of_values_is_a_frame_of_all_rows_with_them(tables: Tables) -> None:
    frame = "RANGE BETWEEN 40 PRECEDING AND CURRENT ROW"
    found = dict(tables.rows(f"SELECT o, SUM(i) OVER (ORDER BY o {frame}) FROM t"))
    for order, value in found.items():
        values = present([row[2] for row in ROWS if order - 40 <= row[1] <= order])
        assert value == (wrapped(sum(values), 32) if values else None)


def test_a_long_running_aggregate_takes_no_quadratic_time(tables: Tables) -> None:
    """100,000 rows have frames of five thousand million rows together: minutes, if each were aggregated on its own."""
    rows = 100_000
    tables.add(
        "long", {"o": IntType(False), "d": DecimalType(10, 2)}, *((each, Decimal(each % 1000)) for each in range(rows))
    )
    start = time.process_time()
    found = tables.rows("SELECT SUM(d) OVER (ORDER BY o), MAX(d) OVER (ORDER BY o) FROM long")
    assert found[-1] == (sum(each % 1000 for each in range(rows)), 999)
    assert time.process_time() - start < 20
