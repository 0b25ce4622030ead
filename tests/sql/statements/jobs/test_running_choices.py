"""MIN, MAX, FIRST_VALUE and LAST_VALUE of groups after each row, beside a loop over the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scurry.sql.functions.aggregate.extremes import AtEnd, Extreme
from scurry.sql.operators.aggregation import selecting
from scurry.sql.operators.aggregation.segments import segments_of
from scurry.sql.operators.aggregation.selecting import chosen, known_columns

VALUES = {
    pa.int64(): st.none() | st.integers(-3, 3),
    pa.string(): st.none() | st.sampled_from(["", "a", "b", "ab"]),
}
#: What the value of a group becomes with a row that counts and is not NULL.
NAIVE: dict[str, tuple[Any, Callable[[Any, Any], Any]]] = {
    "MIN": (Extreme(greatest=False), lambda before, value: value if before is None else min(before, value)),
    "MAX": (Extreme(greatest=True), lambda before, value: value if before is None else max(before, value)),
    "FIRST_VALUE": (AtEnd(last=False), lambda before, value: value if before is None else before),
    "LAST_VALUE": (AtEnd(last=True), lambda before, value: value),
}


@pytest.mark.parametrize("most_steps", [0, 12])
@pytest.mark.parametrize("name", NAIVE)
@pytest.mark.parametrize("kind", VALUES, ids=str)
@given(data=st.data())
def test_each_row_has_the_value_of_the_rows_up_to_it(
    name: str, kind: pa.DataType, most_steps: int, data: st.DataObject
) -> None:
    accumulator, naive = NAIVE[name]
    known: dict[int, Any] = {}
    kept: dict[int, Any] = {}
    row = st.tuples(st.integers(0, 2), VALUES[kind], st.booleans())
    for rows in data.draw(st.lists(st.lists(row, min_size=1, max_size=8), max_size=4)):
        rows.sort(key=lambda each: each[0])
        keys, values, counted = zip(*rows, strict=True)
        segments = segments_of(np.asarray(keys), None, None)
        groups = [keys[start] for start in segments.starts]
        before = [known.get(group) for group in groups]
        expected = []
        for key, value, counts in rows:
            if counts and value is not None:
                known[key] = naive(known.get(key), value)
            expected.append(known.get(key))
        there, (columns,) = known_columns([kept.get(group) for group in groups], [kind])
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(selecting, "MOST_STEPS", most_steps)
            found, after = chosen(accumulator, pa.array(values, kind), np.asarray(counted), segments, there, columns)
        kept |= dict(zip(groups, ((each,) for each in after.to_pylist()), strict=True))
        assert found.take(pa.array(segments.place_of_row)).to_pylist() == expected
        assert found.take(pa.array(segments.heads)).to_pylist() == before
