from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from scurry.graph import operators as ops
from scurry.graph.plan import Edge, JobPlan
from scurry.graph.settings import JobSettings
from scurry.runtime.exchange.wire import DATA, MAX_TIME, MIN_TIME, BatchRow, pack
from scurry.runtime.tasks.batch_task import in_time_order, sort_key
from support.cases import cases

PLAN = JobPlan(JobSettings("job", 1), edges={port: Edge(port, 9, port, ops.Rebalance()) for port in (0, 1)})
TIMES = st.integers(0, 30) | st.sampled_from([MIN_TIME, MAX_TIME])
ROWS = st.lists(st.tuples(st.sampled_from([0, 1]), st.lists(TIMES, min_size=1, max_size=6).map(sorted)), max_size=6)


def rows_of(spec: list[tuple[int, list[int]]]) -> list[BatchRow]:
    rows = []
    for seq, (port, times) in enumerate(spec):
        block = pack((None, [(seq, i) for i in range(len(times))], times, 0))
        rows.append(BatchRow(0, port, DATA, 1, seq, block, 9, b"k", times[0]))
    return sorted(rows, key=sort_key)


@settings(max_examples=cases(150), deadline=None)
@given(ROWS)
def test_records_of_a_key_come_in_time_order_with_ties_in_order_of_arrival(spec: list[tuple[int, list[int]]]) -> None:
    records = [(time, seq, i, port) for seq, (port, times) in enumerate(spec) for i, time in enumerate(times)]
    merged: list[Any] = []
    for port, values, times in in_time_order(rows_of(spec), PLAN):
        assert times is not None and len(times) == len(values) > 0
        merged += [(time, *value, port) for time, value in zip(times, values, strict=True)]
    assert sorted(merged) == sorted(records)
    assert [time for time, *_ in merged] == sorted(time for time, *_ in records)
    for seq, (_, times) in enumerate(spec):
        assert [i for _, of, i, _ in merged if of == seq] == list(range(len(times)))


def test_rows_that_do_not_overlap_stay_whole() -> None:
    spec = [(0, [1, 2, 3]), (1, [4, 5]), (0, [6])]
    assert [times for _, _, times in in_time_order(rows_of(spec), PLAN)] == [[1, 2, 3], [4, 5], [6]]


def test_records_without_timestamps_keep_their_order() -> None:
    rows = [BatchRow(0, 0, DATA, 1, seq, pack((None, [seq], None, 0)), 9, b"k", MIN_TIME) for seq in range(3)]
    assert [values for _, values, _ in in_time_order(rows, PLAN)] == [[0], [1], [2]]
