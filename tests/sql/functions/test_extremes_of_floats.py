"""MIN and MAX of floating-point numbers: Java's `<`, value by value, whatever the order and wherever batches end."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scurry.sql.functions.aggregate.extremes import Extreme
from scurry.sql.operators.aggregation.segments import Segments
from scurry.sql.operators.aggregation.selecting import chosen, known_columns

VALUES = st.lists(st.sampled_from([0.0, -0.0, math.nan, None, 1.0, -1.0, math.inf]), min_size=1, max_size=8)


def folded(values: list[float | None], greatest: bool) -> list[float | None]:
    """Flink's accumulator after each value."""
    kept, found = None, []
    for value in values:
        if value is not None and (kept is None or (value > kept if greatest else value < kept)):
            kept = value
        found.append(kept)
    return found


@pytest.mark.parametrize("greatest", [False, True])
@given(groups=st.lists(VALUES, min_size=1, max_size=4))
def test_an_extreme_of_a_group_is_what_the_comparisons_leave(greatest: bool, groups: list[list[float | None]]) -> None:
    column = pa.array([value for group in groups for value in group], pa.float64())
    codes = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    (found,) = Extreme(greatest).partial([column], codes, len(groups))
    assert repr(found.to_pylist()) == repr([folded(group, greatest)[-1] for group in groups])


@pytest.mark.parametrize("greatest", [False, True])
@given(groups=st.lists(VALUES, min_size=1, max_size=4), before=st.sampled_from([None, 0.0, -0.0, math.nan, 2.0]))
def test_running_extremes_are_what_the_comparisons_leave_after_each_row(
    greatest: bool, groups: list[list[float | None]], before: float | None
) -> None:
    column = pa.array([value for group in groups for value in group], pa.float64())
    stops = np.cumsum([len(group) for group in groups])
    starts = np.append(0, stops[:-1])
    segments = Segments(starts, stops, np.repeat(np.arange(len(groups)), stops - starts), None)
    known, (kept,) = known_columns([None if before is None else (before,) for _ in groups], [column.type])
    values, _ = chosen(Extreme(greatest), column, np.ones(len(column), dtype=bool), segments, known, kept)
    expected = [each for group in groups for each in folded([before, *group], greatest)]
    assert repr(values.to_pylist()) == repr(expected)
