"""Convert the values that a batch wrote to the declared types of its states.

PyFlink encodes state at the end of a bundle; this has the same effect once per batch instead of at every update. Values
that are one per key are all looked at. Lists and maps may be large, so their states note what they are given: whole
lists and maps are converted only if some of that has to be.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from scurry.errors import TypeMismatchError
from scurry.runtime.state.layout import Entry

if TYPE_CHECKING:
    from scurry.common.typeinfo import MapTypeInfo
    from scurry.runtime.functions.state_descriptor import StateDescriptor

_Convert = Callable[[list[Any]], list[Any]]


class StateConversion(ABC):
    """Convert the values of a state in the entries of a batch.

    Args:
        slot: Where the state is in an entry.
        block: The block converter of its values.
        stamped: Whether each value is stored with the time of its last access.
    """

    def __init__(self, slot: str, block: _Convert, stamped: bool) -> None:
        self._slot, self._block, self._stamped = slot, block, stamped

    def __call__(self, entries: Iterable[Entry]) -> None:
        """Convert values that do not have their declared type.

        Raises:
            TypeMismatchError: A value does not fit.
        """
        try:
            self._convert(entries)
        except TypeMismatchError as error:
            place = f"in state {self._slot!r}"
            reason = f"{error.reason}, {place}" if error.reason else place
            raise TypeMismatchError(error.declared, error.value, reason) from error

    def begin(self) -> None:  # noqa: B027
        """Forget the values of an earlier backend: those of BATCH, one per key, end without a conversion."""

    def _convert(self, entries: Iterable[Entry]) -> None:
        holders = [entry for entry in entries if self._slot in entry]
        if not holders:
            return
        stored = [entry[self._slot] for entry in holders]
        values = self._values(stored)
        converted = self._block(values)
        if converted is not values:
            for entry, content in zip(holders, self._stored(iter(converted), stored), strict=True):
                entry[self._slot] = content

    @abstractmethod
    def _values(self, stored: list[Any]) -> list[Any]:
        """Return the values of all keys, without times."""

    @abstractmethod
    def _stored(self, values: Iterator[Any], stored: list[Any]) -> Iterable[Any]:
        """Return the stored form of converted values, for each key."""

    def _without_times(self, values: Iterable[Any]) -> Iterable[Any]:
        return map(itemgetter(0), values) if self._stamped else values

    def _with_times(self, values: Iterator[Any], stored: Iterable[Any]) -> Iterator[Any]:
        """Return the next values as they are stored, with the times of those that are stored now."""
        if self._stamped:
            return ((next(values), time) for _, time in stored)
        return (next(values) for _ in stored)


class _OfValues(StateConversion):
    """One value per key."""

    def _values(self, stored: list[Any]) -> list[Any]:
        return list(self._without_times(stored))

    def _stored(self, values: Iterator[Any], stored: list[Any]) -> Iterable[Any]:
        return self._with_times(values, stored)


class _OfWritten(StateConversion):
    """Several values per key."""

    def __init__(self, slot: str, block: _Convert, stamped: bool) -> None:
        super().__init__(slot, block, stamped)
        #: what the state was given since the last batch
        self.written: list[Any] = []

    def begin(self) -> None:
        """Forget the written values."""
        self.written.clear()

    def _convert(self, entries: Iterable[Entry]) -> None:
        if self.written and not self._fits():
            super()._convert(entries)  # which fails only if what does not fit is still there
        self.written.clear()

    def _fits(self) -> bool:
        try:
            return all(block(column) is column for block, column in self._columns())
        except TypeMismatchError:
            return False

    @abstractmethod
    def _columns(self) -> Iterator[tuple[_Convert, list[Any]]]:
        """Yield the written values, and their block converters."""


class _OfLists(_OfWritten):
    def _columns(self) -> Iterator[tuple[_Convert, list[Any]]]:
        yield self._block, self.written

    def _values(self, stored: list[Any]) -> list[Any]:
        return list(self._without_times(chain.from_iterable(stored)))

    def _stored(self, values: Iterator[Any], stored: list[Any]) -> Iterable[Any]:
        return (list(self._with_times(values, elements)) for elements in stored)


class _OfMaps(_OfWritten):
    """Values are pairs of key and value; in `written` keys and values alternate, as pairs would cost far more."""

    def __init__(self, slot: str, declared: MapTypeInfo, stamped: bool) -> None:
        block = declared.block_converter()
        assert block is not None  # a map always has one
        super().__init__(slot, _of_pairs(block), stamped)
        self._key_block = declared.key_type.block_converter()
        self._value_block = declared.value_type.block_converter()

    def _columns(self) -> Iterator[tuple[_Convert, list[Any]]]:
        if self._key_block is not None:
            yield self._key_block, self.written[::2]
        if self._value_block is not None:
            yield self._value_block, [value for value in self.written[1::2] if value is not None]

    def _values(self, stored: list[Any]) -> list[Any]:
        return [pair for content in stored for pair in zip(content, self._without_times(content.values()), strict=True)]

    def _stored(self, values: Iterator[Any], stored: list[Any]) -> Iterable[Any]:
        for content in stored:
            pairs = list(islice(values, len(content)))
            keys, plain = map(itemgetter(0), pairs), map(itemgetter(1), pairs)
            yield dict(zip(keys, self._with_times(plain, content.values()), strict=True))


def _of_pairs(block: _Convert) -> _Convert:
    def convert(pairs: list[Any]) -> list[Any]:
        column = [{key: value} for key, value in pairs]
        converted = block(column)
        return pairs if converted is column else [pair for one in converted for pair in one.items()]

    return convert


def conversion_of(descriptor: StateDescriptor, state: Any) -> StateConversion | None:
    """Return the conversion of a state to its declared type; None if every value fits.

    Args:
        state: The state object, which notes from now on what it is given.
    """
    declared: Any = descriptor.type_info
    stamped = descriptor.ttl_config is not None
    if descriptor.kind == "map":
        if declared.key_type.block_converter() is None and declared.value_type.block_converter() is None:
            return None
        conversion: StateConversion = _OfMaps(descriptor.name, declared, stamped)
    else:
        block = (declared.elem_type if descriptor.kind == "list" else declared).block_converter()
        if block is None:
            return None
        conversion = (_OfLists if descriptor.kind == "list" else _OfValues)(descriptor.name, block, stamped)
    if isinstance(conversion, _OfWritten):
        state._written = conversion.written
    return conversion
