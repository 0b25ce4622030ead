"""CollectionSource: the elements of a Python collection."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from typing import Any

from scurry.common.pickling import by_value
from scurry.common.typeinfo import TypeInformation
from scurry.connectors.ranges import RangeEnumerator
from scurry.connectors.source import BatchLimits, Chunk, ChunkSizer, Enumerator, Source, sliced

__all__ = ["CollectionSource"]

#: Collections up to this size are read by one channel, which keeps their order whatever the parallelism.
SINGLE_CHANNEL_ELEMENTS = 10_000


class CollectionSource(Source):
    """A bounded source of the elements of a collection, in order: Flink's `from_collection`.

    Elements are pickled when their work is dealt, so a task never shares objects with the program that made them.
    """

    def __init__(self, values: Iterable[Any], type_info: TypeInformation | None = None) -> None:
        """Take the elements, converted to their declared type.

        Args:
            values: The elements.
            type_info: Their type; None takes them as they are.

        Raises:
            TypeMismatchError: An element is not of the declared type.
        """
        elements = list(values)
        convert = type_info.block_converter() if type_info is not None else None
        self._values = convert(elements) if convert is not None else elements
        self._type_info = type_info

    @property
    def produced_type(self) -> TypeInformation | None:
        """The declared type."""
        return self._type_info

    def channels(self, parallelism: int) -> int:
        """Return 1, or `parallelism` for a large collection."""
        return parallelism if len(self._values) > SINGLE_CHANNEL_ELEMENTS else 1

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        """Return an enumerator that deals pickled slices."""
        ranges = (0, len(self._values))
        return RangeEnumerator(*ranges, self.channels(parallelism), limits.max_records, self._pickled_slice)

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        """Yield the elements of one pickled slice."""
        return sliced([pickle.loads(work)], sizer)

    def _pickled_slice(self, start: int, stop: int) -> bytes:
        # the elements' classes may live in the user's __main__ or in a function
        return by_value(self._values[start:stop])

    def __getstate__(self) -> dict[str, Any]:
        """Leave the elements out: a task gets those it needs with its work."""
        return {**self.__dict__, "_values": []}
