"""Functions that run record by record, one after the other, without blocks between them.

Where no type is declared in between, a function takes each result of the one before when it is yielded, and all results
of a record before the next record is processed. So functions may go on changing what they have passed on, with the same
effects as in PyFlink, and nothing is copied between them. Everywhere else, results are handed over in blocks.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from scurry.common.output_tag import OutputTag
from scurry.runtime.exchange.collector import Collector, Timestamps, Values
from scurry.runtime.failure import operator_error
from scurry.runtime.functions.context import ProcessContext
from scurry.runtime.operators.base import RuntimeOperator


class RecordTime:
    """The timestamp of the record that is being processed, None if records have none."""

    __slots__ = ("now",)

    def __init__(self) -> None:
        self.now: int | None = None

    def over(self, values: Values, timestamps: Timestamps) -> Iterator[Any]:
        if timestamps is None:
            yield from values
        else:
            for value, self.now in zip(values, timestamps, strict=True):
                yield value

    def gathered(self, results: Iterator[Any], collector: Collector) -> tuple[Values, Timestamps]:
        """Return results as a block; each is handed over, and has the timestamp of its record."""
        uncopied, copy = collector.handing_over()
        block: Values = []
        times: list[Any] = []
        for result in results:
            block.append(result if type(result) is uncopied else copy(result))
            times.append(self.now)
        if block:
            collector.look_at(block[0])
        return block, times


class Results(Protocol):
    """Process records one by one."""

    def __call__(self, source: Iterator[Any], counts: bool) -> Iterator[Any]:
        """Yield the results of records, those of one before the next is taken.

        Args:
            counts: Whether to count the results, because other functions follow.
        """


class PerRecordOperator(RuntimeOperator):
    """An operator that can follow another one record by record."""

    #: whether each record has one result
    one_to_one = False

    @abstractmethod
    def results(self, source: Iterator[Any], counts: bool) -> Iterator[Any]:
        """Yield the results of records, see `Results`."""

    def process(self, values: Values, timestamps: Timestamps) -> None:
        emit_each(self.collector, self.results, values, timestamps, RecordTime(), self.one_to_one)
        if self.dead_letters is not None:
            self.dead_letters.send(timestamps)


def followers(collector: Collector) -> list[PerRecordOperator]:
    """Return the operators that receive the output record by record, in order."""
    found = collector.followers
    if found is None:
        found = collector.followers = []
        following = collector.consumer_of_objects()
        if isinstance(following, PerRecordOperator) and following.dead_letters is None:
            found += [following, *followers(following.collector)]
    return found


def emit_each(
    collector: Collector,
    results: Results,
    values: Values,
    timestamps: Timestamps,
    time: RecordTime,
    one_to_one: bool = False,
    tagged: bool = False,
) -> None:
    """Emit the results of a block, by way of the functions that follow record by record.

    Args:
        collector: The outputs of the operator.
        results: Processes records.
        time: Tells the function the timestamp of its record, if not `one_to_one`.
        one_to_one: Whether each record has one result.
        tagged: Whether results may be for side outputs.
    """
    following = followers(collector)
    keeps_times = timestamps is None or (one_to_one and all(each.one_to_one for each in following))
    found = results(iter(values) if keeps_times else time.over(values, timestamps), bool(following))
    for each in following:
        collector = each.collector
        found = each.results(found, each is not following[-1])
    if keeps_times:
        block, times = collector.handed_over(found), timestamps
    else:
        block, times = time.gathered(found, collector)
    if tagged and not following:
        collector.emit_tagged(block, times)
    else:
        collector.emit(block, times)


def process_each(
    operator: RuntimeOperator,
    hook: Callable[..., Any],
    context: ProcessContext | None,
    values: Values,
    timestamps: Timestamps,
) -> None:
    """Call a hook for each record, with the context if there is one, and emit its results; None is none."""
    time = RecordTime()

    def results(source: Iterator[Any], counts: bool) -> Iterator[Any]:
        count = 0
        for value in source:
            try:
                if context is None:
                    some = hook(value)
                else:
                    context.time = time.now
                    some = hook(value, context)
                if some is None:
                    continue
                for result in some:
                    if not counts:
                        yield result
                    elif context is None or not is_tagged(result):  # nobody takes the side outputs
                        count += 1
                        yield result
            except Exception as error:
                raise operator_error(operator.plan, error, value) from error
        operator.collector.count += count

    emit_each(operator.collector, results, values, timestamps, time, tagged=context is not None)
    if operator.dead_letters is not None:
        operator.dead_letters.send(timestamps)


def is_tagged(result: Any) -> bool:
    """Return whether a result is for a side output."""
    return type(result) is tuple and len(result) == 2 and type(result[0]) is OutputTag
