"""CollectionSource: reads the elements of a Python collection."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any

from scurry.common._copies import IMMUTABLE_DATA, are_immutable, copies_of
from scurry.common.pickling import Captured, by_value
from scurry.common.typeinfo import BasicType, BasicTypeInfo, TupleTypeInfo, TypeInformation
from scurry.connectors.ranges import RangeEnumerator
from scurry.connectors.source import BatchLimits, Chunk, ChunkSizer, Enumerator, Source, sliced
from scurry.errors import ArgumentError, UnpicklableFunctionError

#: Collections up to this size are read by one channel, which keeps their order at any parallelism.
SINGLE_CHANNEL_ELEMENTS = 10_000

#: Largest assignment in bytes, because Spark's driver holds several copies of it.
SLICE_BYTES = 16 * 1024 * 1024

#: As many elements are converted to their type at once: their fields stay in the processor's caches.
_CONVERTED = 4096

#: No number, and nothing around a value, takes up more bytes when it is pickled; BIG_INT and BIG_DEC have any length.
_AROUND = 16
_OF_ANY_LENGTH = {BasicType.BIG_INT, BasicType.BIG_DEC, BasicType.INSTANT}


class CollectionSource(Source):
    """A bounded source of the elements of a collection, in order: Flink's `from_collection`.

    Elements that may change are copied here and pickled when they are assigned, so a task never shares them with the
    program.
    """

    converts = True

    def __init__(self, values: Iterable[Any], type_info: TypeInformation | None = None) -> None:
        """Create a source of elements, converted to their declared type.

        Args:
            values: The elements.
            type_info: Their type; None leaves them unconverted.

        Raises:
            TypeMismatchError: An element is not of the declared type.
            UnpicklableFunctionError: An element cannot be pickled.
        """
        elements = list(values)
        kind = type_info._of_collections() if type_info is not None else None
        convert = kind.block_converter() if kind is not None else None
        values = elements if convert is None else _converted(convert, elements)
        self._immutable = (kind is not None and kind._is_immutable()) or are_immutable(values, IMMUTABLE_DATA)
        self._values = values if self._immutable else _copies(values)
        self._type_info = type_info

    @property
    def produced_type(self) -> TypeInformation | None:
        """The declared type."""
        return self._type_info

    def channels(self, parallelism: int) -> int:
        """Return 1, or `parallelism` for a large collection."""
        return parallelism if len(self._values) > SINGLE_CHANNEL_ELEMENTS else 1

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        """Return an enumerator that assigns slices."""
        bound = None if self._type_info is None or not self._immutable else _bound(self._type_info)
        slices = _Slices(self._values, limits.max_record_bytes, bound)
        ranges = (0, len(self._values))
        return RangeEnumerator(*ranges, self.channels(parallelism), limits.max_records, slices.work, slices.fitting)

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        """Yield the elements of one slice."""
        elements = pickle.loads(work) if isinstance(work, bytes) else work
        return sliced([elements if self._immutable else copies_of(elements)], sizer)  # they may have parts in common

    def __getstate__(self) -> dict[str, Any]:
        """Leave the elements out: a task gets its elements in the assignment."""
        return {**self.__dict__, "_values": []}


def _copies(elements: list[Any]) -> list[Any]:
    """Return copies of elements that the program may change later."""
    copies: list[Any]
    try:
        copies = pickle.loads(pickle.dumps(elements, 5))
    except Exception:
        copies = _copies_by_value(elements)
    return copies


def _copies_by_value(elements: list[Any]) -> list[Any]:
    try:
        copies: list[Any] = Captured(elements).copy()  # their classes may be defined in a function
    except Exception as error:
        raise UnpicklableFunctionError(
            f"an element of the collection cannot be sent to workers: {error}\n  hint: create connections, locks, open "
            "files and the like in the open() of a function"
        ) from error
    return copies


def _converted(convert: Callable[[list[Any]], list[Any]], elements: list[Any]) -> list[Any]:
    for at in range(0, len(elements), _CONVERTED):
        part = elements[at : at + _CONVERTED]
        converted = convert(part)
        if converted is not part:
            elements[at : at + _CONVERTED] = converted
    return elements


def _bound(declared: TypeInformation) -> Callable[[Sequence[Any]], int] | None:
    """Return the function that says how many bytes values of a type have at most when they are pickled.

    It takes far less time than to pickle them. Types of values of any length have no such function.
    """
    is_tuple = isinstance(declared, TupleTypeInfo)
    fields = declared.get_field_types() if isinstance(declared, TupleTypeInfo) else [declared]
    kinds = [each.basic_type for each in fields if isinstance(each, BasicTypeInfo)]
    if len(kinds) < len(fields) or not _OF_ANY_LENGTH.isdisjoint(kinds):
        return None
    texts = [position for position, kind in enumerate(kinds) if kind is BasicType.STRING]
    around = _AROUND * (len(fields) + 1)

    def bound(values: Sequence[Any]) -> int:
        columns = [list(map(itemgetter(each), values)) if is_tuple else values for each in texts]
        return around * len(values) + sum(map(_text_bytes, columns))

    return bound


def _text_bytes(texts: Sequence[str]) -> int:
    characters = sum(map(len, texts))
    return characters if all(map(str.isascii, texts)) else 4 * characters


class Slice(list[Any]):
    """Elements of a collection that cannot change: they are pickled, once, only if they leave this process."""

    __slots__ = ("_pickled",)

    def __reduce__(self) -> tuple[Any, ...]:
        if not hasattr(self, "_pickled"):
            self._pickled = pickle.dumps(list(self), 5)
        return pickle.loads, (self._pickled,)


class _Slices:
    """Cut a collection into parts that are not much larger than `SLICE_BYTES`, unless they are a single element.

    Args:
        bound: Says how many bytes elements have at most, if they need not be pickled here; None if they do.
    """

    def __init__(
        self, values: list[Any], max_record_bytes: int, bound: Callable[[Sequence[Any]], int] | None = None
    ) -> None:
        self._values = values
        self._max_record_bytes = max_record_bytes
        self._bound = bound
        self._last: tuple[int, int, Slice | bytes] = (0, 0, b"")

    def fitting(self, start: int, stop: int) -> int:
        """Return the end of a part that is small enough."""
        # the elements' classes may be defined in the user's __main__ or in a function
        part, size = self._part(start, stop)
        while size > SLICE_BYTES and stop - start > 1:
            stop = start + max(1, (stop - start) * SLICE_BYTES // size)
            part, size = self._part(start, stop)
        if size > self._max_record_bytes and stop - start == 1:
            raise ArgumentError(
                f"element {start} of the collection takes up {size:,} bytes: it would have to pass through the "
                f"driver's memory whole; read such data from files, or set scurry.record.max-bytes (now "
                f"{self._max_record_bytes:,}) and spark.driver.memory higher"
            )
        self._last = (start, stop, part)
        return stop

    def _part(self, start: int, stop: int) -> tuple[Slice | bytes, int]:
        """Return a part as work for a reader, and its bytes, or more where it is not pickled."""
        elements = self._values[start:stop]
        if self._bound is not None:
            size = self._bound(elements)
            if len(elements) > 1 or size <= min(SLICE_BYTES, self._max_record_bytes):
                return Slice(elements), size
        pickled = by_value(elements)
        return pickled, len(pickled)

    def work(self, start: int, stop: int) -> Slice | bytes:
        """Return the part for which `fitting` was called last."""
        assert self._last[:2] == (start, stop)
        return self._last[2]
