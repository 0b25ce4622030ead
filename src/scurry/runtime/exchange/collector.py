"""The collector, which passes an operator's results to chained operators, edges and sinks, by side output tag."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from scurry.common.output_tag import OutputTag
from scurry.errors import TypeMismatchError
from scurry.runtime.exchange.counting import counter_of
from scurry.runtime.failure import NO_RECORD, operator_error

if TYPE_CHECKING:
    from scurry.graph.plan import OperatorPlan, SourcePlan

Values = list[Any]
Timestamps = list[int] | None


class Consumer(Protocol):
    """Take blocks of records and watermarks."""

    def process(self, values: Values, timestamps: Timestamps) -> None:
        """Take records in order; `timestamps` is None if none of them has one."""

    def watermark(self, watermark: int) -> None:
        """Take a watermark that holds after all records taken so far."""


def _converter(plan: OperatorPlan | SourcePlan) -> Callable[[Values], Values] | None:
    """Return the conversion of results to the declared type of an operator or source; None if none is needed."""
    declared = plan.output_type
    if declared is None or declared == getattr(getattr(plan, "source", None), "produced_type", None):
        return None
    return declared.block_converter()


class Collector:
    """The outputs of one operator instance.

    Args:
        plan: The operator or source.
        converts: Whether records are converted to its declared output type.
    """

    __slots__ = ("_convert", "_count_of", "_plan", "count", "main", "side", "side_converters")

    def __init__(self, plan: OperatorPlan | SourcePlan, converts: bool = True) -> None:
        self._plan = plan
        self._convert = _converter(plan) if converts else None
        self.main: list[Consumer] = []
        self.side: dict[str, list[Consumer]] = {}
        self.side_converters: dict[str, Any] = {}
        self.count = 0
        self._count_of: Callable[[Values], int] | None = None

    def emit(self, values: Values, timestamps: Timestamps) -> None:
        """Emit to the main output."""
        if not values:
            return
        count_of = self._count_of
        if count_of is None:
            count_of = self._count_of = counter_of(values[0])
        self.count += count_of(values)
        if self._convert is not None:
            values = self._converted(self._convert, values)
        for consumer in self.main:
            consumer.process(values, timestamps)

    def emit_tagged(self, items: Values, timestamps: Timestamps) -> None:
        """Emit what a process function yielded: `(OutputTag, value)` goes to the side output of that tag."""
        if not OutputTag.in_use:
            self.emit(items, timestamps)
            return
        main, side = [], {}  # type: ignore[var-annotated]
        for position, item in enumerate(items):
            if type(item) is tuple and len(item) == 2 and type(item[0]) is OutputTag:
                side.setdefault(item[0], []).append(position)
            else:
                main.append(position)
        if not side:
            self.emit(items, timestamps)
            return

        def times(positions: list[int]) -> Timestamps:
            return None if timestamps is None else [timestamps[p] for p in positions]

        self.emit([items[p] for p in main], times(main))
        for tag, positions in side.items():
            self.emit_side(tag, [items[p][1] for p in positions], times(positions))

    def emit_side(self, tag: OutputTag, values: Values, timestamps: Timestamps) -> None:
        """Emit to a side output; values without a consumer are dropped, as in Flink."""
        consumers = self.side.get(tag.tag_id)
        if not consumers or not values:
            return
        if tag.declared is not None:
            convert = self.side_converters.get(tag.tag_id)
            if convert is None:
                convert = self.side_converters[tag.tag_id] = tag.declared.block_converter() or (lambda block: block)
            values = self._converted(convert, values)
        for consumer in consumers:
            consumer.process(values, timestamps)

    def watermark(self, watermark: int) -> None:
        """Forward a watermark to every consumer."""
        for consumer in self.main:
            consumer.watermark(watermark)
        for consumers in self.side.values():
            for consumer in consumers:
                consumer.watermark(watermark)

    def _converted(self, convert: Callable[[Values], Values], values: Values) -> Values:
        try:
            return convert(values)
        except TypeError as error:
            index = getattr(error, "index", None)
            record = values[index] if index is not None else NO_RECORD
            told = isinstance(error, TypeMismatchError)  # which says so itself
            hint = "" if told else "return a value of the declared type, or change or drop the declared output type"
            raise operator_error(self._plan, error, record, hint) from error
