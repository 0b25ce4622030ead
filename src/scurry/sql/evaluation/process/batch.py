"""Process table functions on bounded input: partition by partition, in the order of time."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from scurry.sql.evaluation.process.runner import ProcessRunner, TableRows
from scurry.sql.evaluation.user_functions.arguments import checked
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan.process_tables import ProcessTableFunction
from scurry.sql.types.values import to_values

#: The last watermark.
_END_OF_TIME = (1 << 63) - 1


class _Partition:
    """State and timers of a partition while its rows are read."""

    def __init__(self, makers: Sequence[tuple[str, Callable[[], Any]]]) -> None:
        self._makers = makers
        self._names = [name for name, _ in makers]
        self.values = [make() for _, make in makers]
        self._cleared: set[str] = set()
        self.named: dict[str, int] = {}
        self.unnamed: set[int] = set()

    def clear_state(self, name: str) -> None:
        self._cleared.add(name)

    def called(self) -> None:
        cleared, self._cleared = self._cleared, set()
        for name in cleared:
            place = self._names.index(name)
            self.values[place] = self._makers[place][1]()

    def register_timer(self, name: str | None, time: int) -> None:
        if name is None:
            self.unnamed.add(time)
        else:
            self.named[name] = time

    def clear_timer(self, timer: str | int) -> None:
        if isinstance(timer, str):
            self.named.pop(timer, None)
        else:
            self.unnamed.discard(timer)

    def clear_all_timers(self) -> None:
        self.named.clear()
        self.unnamed.clear()

    def next_timer(self, watermark: int) -> tuple[int, str | None] | None:
        """Remove the first timer that a watermark fires, and return its time and name; None without one."""
        timers: list[tuple[int, str]] = [(time, name) for name, time in self.named.items()]
        due = min(itertools.chain(timers, ((time, "") for time in self.unnamed)), default=None)
        if due is None or due[0] > watermark:
            return None
        time, name = due
        if name and self.named.get(name) == time:
            del self.named[name]
            return time, name
        self.unnamed.discard(time)
        return time, None


def processed(
    plan: ProcessTableFunction, batches: Sequence[pa.RecordBatch], session: EvaluationContext
) -> pa.RecordBatch | None:
    """Return the rows that a function makes of all rows of its tables.

    Rows of a partition come in the order of time, and timers between them as if the watermark was just behind the rows.

    Args:
        plan: The call.
    """
    runner = ProcessRunner(plan, session)
    tables = [TableRows(runner, index, batch) for index, batch in enumerate(batches)]
    if not plan.is_partitioned:
        for rows in tables:
            for position in checked(range(rows.batch.num_rows), session):
                runner.eval(rows, position, None, None)
        return runner.take()
    makers = [(each.name, each.make) for each in plan.signature.states]
    for keys, found in _partitions(plan, tables).items():
        _run(runner, _Partition(makers), keys, checked(found, session))
    return runner.take()


def _partitions(
    plan: ProcessTableFunction, tables: Sequence[TableRows]
) -> dict[tuple[Any, ...], list[tuple[TableRows, int]]]:
    """Return the rows of each partition, in the order of time."""
    found: dict[Any, list[tuple[TableRows, int]]] = {}
    values: dict[Any, tuple[Any, ...]] = {}
    for rows, table in zip(tables, plan.tables, strict=True):
        keys = list(_keys(rows.batch, table.partition_by))
        for position, key in enumerate(keys):
            known = repr(key)
            values.setdefault(known, key)
            found.setdefault(known, []).append((rows, position))
    for each in found.values():
        each.sort(key=lambda row: 0 if row[0].times is None else row[0].times[row[1]])
    return {values[known]: each for known, each in found.items()}


def _keys(batch: pa.RecordBatch, columns: Sequence[int]) -> Iterator[tuple[Any, ...]]:
    if not columns:
        return iter([()] * batch.num_rows)
    return zip(*(to_values(batch.column(place)) for place in columns), strict=True)


def _run(
    runner: ProcessRunner, partition: _Partition, keys: tuple[Any, ...], rows: Iterable[tuple[TableRows, int]]
) -> None:
    def advance(watermark: int) -> None:
        while (timer := partition.next_timer(watermark)) is not None:
            runner.on_timer(partition, keys, *timer, watermark)

    for table, position in rows:
        watermark = None if table.times is None else table.times[position] - 1
        if watermark is not None:
            advance(watermark)
        runner.eval(table, position, partition, watermark)
    advance(_END_OF_TIME)
