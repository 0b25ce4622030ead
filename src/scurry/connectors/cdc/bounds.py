"""ChunkBounds: in which chunk a key is, by the order of the database."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

T = TypeVar("T")
#: Changes whose keys are looked up together.
_TOGETHER = 2000


def in_batches(items: Iterable[T]) -> Iterator[list[T]]:
    """Yield lists of items whose keys are to be looked up together."""
    rest = iter(items)
    while batch := list(islice(rest, _TOGETHER)):
        yield batch


class ChunkBounds:
    """The last keys of chunks, which tell in which chunk a key is.

    The order of texts and of some other types only the database knows. It is asked for the keys of many rows at once:
    a request for each row that has changed takes longer than all else.
    """

    def __init__(
        self,
        bounds: Sequence[Any],
        of_null: int,
        value: Callable[[Any], Any] | None,
        ask: Callable[[list[Any]], Iterable[int]],
    ) -> None:
        """Keep the bounds.

        Args:
            bounds: The last keys of all chunks but one that has no bound, in their order.
            of_null: The place of NULL, 0 if there are no bounds.
            value: Returns what keys and bounds compare by; None if only the database knows.
            ask: Returns the places of keys, which it asks the database for.
        """
        self._bounds = bounds
        self._of_null = of_null
        self._value = value
        self._ask = ask
        self._values = None if value is None else [value(bound) for bound in bounds]
        self._known: dict[Any, int] = {}

    def look_up(self, keys: Iterable[Any]) -> None:
        """Ask for the places of keys, together, and forget those of before."""
        if self._values is None and self._bounds:
            wanted = dict.fromkeys(key for key in keys if key is not None)
            self._known = {key: self._known[key] for key in wanted if key in self._known}
            missing = [key for key in wanted if key not in self._known]
            if missing:
                self._known.update(zip(missing, self._ask(missing), strict=True))

    def place(self, key: Any) -> int:
        """Return how many bounds a key is behind, which is the number of its chunk."""
        if key is None or not self._bounds:
            return self._of_null
        if self._values is not None and self._value is not None:
            return bisect_left(self._values, self._value(key))
        if key not in self._known:
            self._known.update(zip([key], self._ask([key]), strict=True))
        return self._known[key]
