"""CollectionSource: reads the elements of a Python collection."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from typing import Any

from scurry.common._copies import IMMUTABLE_DATA, are_immutable, copies_of
from scurry.common.pickling import Captured, by_value
from scurry.common.typeinfo import TypeInformation
from scurry.connectors.ranges import RangeEnumerator
from scurry.connectors.source import BatchLimits, Chunk, ChunkSizer, Enumerator, Source, sliced
from scurry.errors import ArgumentError, UnpicklableFunctionError

#: Collections up to this size are read by one channel, which keeps their order at any parallelism.
SINGLE_CHANNEL_ELEMENTS = 10_000

#: Largest assignment in bytes, because Spark's driver holds several copies of it.
SLICE_BYTES = 16 * 1024 * 1024


class CollectionSource(Source):
    """A bounded source of the elements of a collection, in order: Flink's `from_collection`.

    Elements are copied here and pickled when they are assigned, so a task never shares objects with the program.
    """

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
        values = convert(elements) if convert is not None else elements
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
        """Return an enumerator that assigns pickled slices."""
        slices = _Slices(self._values, limits.max_record_bytes)
        ranges = (0, len(self._values))
        return RangeEnumerator(*ranges, self.channels(parallelism), limits.max_records, slices.pickled, slices.fitting)

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        """Yield the elements of one pickled slice."""
        elements = pickle.loads(work)
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


class _Slices:
    """Pickle parts of a collection that are not much larger than `SLICE_BYTES`, unless they are a single element."""

    def __init__(self, values: list[Any], max_record_bytes: int) -> None:
        self._values = values
        self._max_record_bytes = max_record_bytes
        self._last: tuple[int, int, bytes] = (0, 0, b"")

    def fitting(self, start: int, stop: int) -> int:
        """Return the end of a part that is small enough."""
        # the elements' classes may be defined in the user's __main__ or in a function
        while len(pickled := by_value(self._values[start:stop])) > SLICE_BYTES and stop - start > 1:
            stop = start + max(1, (stop - start) * SLICE_BYTES // len(pickled))
        if len(pickled) > self._max_record_bytes and stop - start == 1:
            raise ArgumentError(
                f"element {start} of the collection takes up {len(pickled):,} bytes: it would have to pass through the "
                f"driver's memory whole; read such data from files, or set scurry.record.max-bytes (now "
                f"{self._max_record_bytes:,}) and spark.driver.memory higher"
            )
        self._last = (start, stop, pickled)
        return stop

    def pickled(self, start: int, stop: int) -> bytes:
        """Return the pickled part for which `fitting` was called last."""
        assert self._last[:2] == (start, stop)
        return self._last[2]
