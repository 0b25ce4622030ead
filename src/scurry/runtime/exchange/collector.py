"""The collector, which passes an operator's results to chained operators, edges and sinks, by side output tag."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol

from scurry.common._copies import IMMUTABLE, copies_of, copy_of, itself, kept_flat_row
from scurry.common.output_tag import OutputTag
from scurry.common.typeinfo import (
    BasicTypeInfo,
    DateTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TupleTypeInfo,
    TypeInformation,
)
from scurry.errors import TypeMismatchError
from scurry.runtime.failure import NO_RECORD, operator_error

if TYPE_CHECKING:
    from scurry.graph.plan import OperatorPlan, SourcePlan


def counter_of(record: Any) -> Callable[[list[Any]], int]:
    """Return the counter of the records of blocks.

    Args:
        record: The first record of the first block; all others are of its kind.

    Returns:
        `len`, or for batches, which say by `record_count` how many records they are, the sum of that.
    """
    return _sum if getattr(type(record), "record_count", None) is not None else len


def _sum(batches: list[Any]) -> int:
    return sum(batch.record_count for batch in batches)


#: As many results are passed on at once where an operator emits little at a time.
_GATHERED = 4096

Values = list[Any]
Timestamps = list[int] | None


class Consumer(Protocol):
    """Consumer of blocks of records and of watermarks."""

    def process(self, values: Values, timestamps: Timestamps) -> None:
        """Process records in order; `timestamps` is None if none of them has one."""

    def watermark(self, watermark: int) -> None:
        """Process a watermark that holds after all records so far."""


def _converter(plan: OperatorPlan | SourcePlan) -> Callable[[Values], Values] | None:
    """Return the conversion of results to the declared type of an operator or source; None if none is needed."""
    declared = plan.output_type
    if declared is None or declared == getattr(getattr(plan, "source", None), "produced_type", None):
        return None
    return declared.block_converter()


def is_immutable(declared: TypeInformation | None) -> bool:
    """Return whether values converted to a type cannot change."""
    if isinstance(declared, TupleTypeInfo):
        return all(map(is_immutable, declared.get_field_types()))
    return isinstance(declared, _IMMUTABLE_TYPES)


_IMMUTABLE_TYPES = (BasicTypeInfo, DateTypeInfo, TimeTypeInfo, TimestampTypeInfo)


class Collector:
    """The outputs of one operator instance.

    Who changes a record in place changes only what it was given, as in Flink. So an operator hands over a copy of each
    result when a function returns or yields it, and each consumer but the last gets copies. Immutable records are not
    copied.

    Args:
        converts: Whether records are converted to its declared output type.
        copies: Whether records are copied; not with `pipeline.object-reuse`.
    """

    __slots__ = (
        "_convert",
        "_copy",
        "_count_of",
        "_learns",
        "_plan",
        "_shares",
        "_uncopied",
        "copies",
        "count",
        "followers",
        "main",
        "side",
        "side_converters",
    )

    def __init__(self, plan: OperatorPlan | SourcePlan, converts: bool = True, copies: bool = True) -> None:
        self._plan = plan
        self._convert = _converter(plan) if converts else None
        self.copies = copies
        #: whether consumers are given the same records
        self._shares = not copies or is_immutable(getattr(plan, "output_type", None))
        #: the type of results that are handed over as they are, before anything else about them is looked at
        self._uncopied: type | None = None
        self._copy: Callable[[Any], Any] = copy_of
        self._learns = True
        self.main: list[Consumer] = []
        self.side: dict[str, list[Consumer]] = {}
        self.side_converters: dict[str, Any] = {}
        self.count = 0
        #: the operators that take what is emitted record by record; None until that is looked up
        self.followers: list[Any] | None = None
        self._count_of: Callable[[Values], int] | None = None

    def convert_with(self, converter: Callable[[TupleTypeInfo], Callable[[Values], Values]]) -> None:
        """Convert tuples by the converter of their declared type, which raises the same errors."""
        declared = getattr(self._plan, "output_type", None)
        if self._convert is not None and isinstance(declared, TupleTypeInfo):
            self._convert = converter(declared)

    def handing_over(self) -> tuple[type, Callable[[Any], Any]]:
        """Return how to hand over a result: if it is of this type, as it is, otherwise as the function returns it."""
        return self._uncopied or self._begin_handing_over(), self._copy

    def _begin_handing_over(self) -> type:
        declared = getattr(self._plan, "output_type", None)
        self._uncopied = str  # until results of another immutable type come
        if not self.copies:
            self._copy, self._learns = itself, False
        elif isinstance(declared, TupleTypeInfo) and is_immutable(declared) and not self.side:
            self._uncopied, self._learns = tuple, False  # the conversion refuses one that holds anything else
        elif isinstance(declared, RowTypeInfo) and all(map(is_immutable, declared.get_field_types())):
            self._copy = kept_flat_row
        return self._uncopied

    def handed_over(self, results: Iterable[Any]) -> Values:
        """Return the results of a function as a block; each is copied when it comes."""
        uncopied, copy = self.handing_over()
        block = [each if type(each) is uncopied else copy(each) for each in results]
        if block:
            self.look_at(block[0])
        return block

    def look_at(self, result: Any) -> None:
        """Expect more results like this one."""
        if self._learns and type(result) in IMMUTABLE:
            self._uncopied = type(result)

    def consumer_of_objects(self) -> Consumer | None:
        """Return the consumer of all that is emitted, if there is only one and no conversion before it."""
        return self.main[0] if self._convert is None and len(self.main) == 1 and not self.side else None

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
        self._pass(self.main, values, timestamps, not self._shares)

    def _pass(self, consumers: list[Consumer], values: Values, timestamps: Timestamps, copies: bool) -> None:
        for consumer in consumers[:-1]:
            consumer.process(copies_of(values) if copies else values, timestamps)
        for consumer in consumers[-1:]:
            consumer.process(values, timestamps)

    def emit_tagged(self, items: Values, timestamps: Timestamps) -> None:
        """Emit a result of a process function: `(OutputTag, value)` goes to the side output of that tag."""
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
        self._pass(consumers, values, timestamps, self.copies and not is_immutable(tag.declared))

    def watermark(self, watermark: int) -> None:
        """Forward a watermark to every consumer."""
        for consumer in self.main:
            consumer.watermark(watermark)
        for consumers in self.side.values():
            for consumer in consumers:
                consumer.watermark(watermark)

    def release(self) -> None:
        """Pass on results that are held back: none."""

    def _converted(self, convert: Callable[[Values], Values], values: Values) -> Values:
        try:
            return convert(values)
        except TypeError as error:
            index = getattr(error, "index", None)
            record = values[index] if index is not None else NO_RECORD
            told = isinstance(error, TypeMismatchError)  # which says so itself
            hint = "" if told else "return a value of the declared type, or change or drop the declared output type"
            raise operator_error(self._plan, error, record, hint) from error


class GatheringCollector(Collector):
    """The outputs of an operator that emits little at a time, key by key in BATCH: passes it on in larger blocks."""

    __slots__ = ("_times", "_values")

    def __init__(self, plan: OperatorPlan | SourcePlan, converts: bool = True, copies: bool = True) -> None:
        super().__init__(plan, converts, copies)
        self._values: Values = []
        self._times: Timestamps = None

    def emit(self, values: Values, timestamps: Timestamps) -> None:
        """Emit to the main output, now or with later results."""
        if not values:
            return
        if self._values and (timestamps is None) is not (self._times is None):
            self.release()
        if not self._values:
            self._times = None if timestamps is None else []
        self._values += values
        if self._times is not None and timestamps is not None:
            self._times += timestamps
        if len(self._values) >= _GATHERED:
            self.release()

    def release(self) -> None:
        """Pass on the results that are held back."""
        values, self._values = self._values, []
        super().emit(values, self._times)

    def watermark(self, watermark: int) -> None:
        """Forward a watermark, after the results that are held back."""
        self.release()
        super().watermark(watermark)
