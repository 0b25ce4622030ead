"""The keys of records, as the selector of a key_by returns them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from operator import itemgetter
from typing import Any

from scurry.common.typeinfo import Types
from scurry.graph import operators as ops
from scurry.runtime.exchange.collector import Values
from scurry.runtime.failure import NO_RECORD, last_taken, operator_error
from scurry.runtime.functions.fields import key_field
from scurry.runtime.keys import canonical_keys

#: The types whose values, once converted, are their own canonical keys.
_PLAIN_TYPES = {Types.BYTE(), Types.SHORT(), Types.INT(), Types.LONG(), Types.STRING()}


class Keys:
    """Return the canonical keys of records; errors blame `place`: the key_by, as a plan of an operator."""

    def __init__(self, partitioner: ops.Hash, place: Any) -> None:
        selector = partitioner.selector
        self._selector = selector.get_key if hasattr(selector, "get_key") else selector
        #: the position of the field that is the key, None if the selector does anything else than return one
        self.field = key_field(self._selector)
        declared = partitioner.key_type
        self._convert = declared.block_converter() if declared is not None else None
        #: the declared type, if its keys are their own canonical form
        self.plain_type = declared if declared in _PLAIN_TYPES else None
        self._place = place

    def __call__(self, values: Values) -> list[Any]:
        keys: list[Any] = self._selected(values)
        if self._convert is not None:
            try:
                keys = self._convert(keys)
                if self.plain_type is not None:
                    return keys
            except TypeError as error:
                keys = self._partly_converted(self._convert, keys, values, error)
        try:
            return canonical_keys(keys)
        except Exception as error:
            failed = next((value for key, value in zip(keys, values, strict=True) if not _is_key(key)), NO_RECORD)
            raise operator_error(self._place, error, failed) from error

    def _selected(self, values: Values) -> list[Any]:
        if self.field is not None:
            with suppress(Exception):  # the selector fails, too, at the user's line
                return list(map(itemgetter(self.field), values))
        select, source = self._selector, iter(values)
        try:
            return [select(value) for value in source]
        except Exception as error:
            failed = last_taken(values, source)
            raise operator_error(self._place, error, failed, "the key selector failed on this record") from error

    def _partly_converted(
        self, convert: Callable[[list[Any]], list[Any]], keys: list[Any], values: Values, error: TypeError
    ) -> list[Any]:
        """Return keys that failed to convert to the declared type: None is a key of every type, as in PyFlink."""
        index = getattr(error, "index", None)
        if index is not None and keys[index] is None:
            given = [place for place, key in enumerate(keys) if key is not None]
            try:
                others = iter(convert([keys[place] for place in given]))
                return [None if key is None else next(others) for key in keys]
            except TypeError as other:
                error, index = other, getattr(other, "index", None)
                index = None if index is None else given[index]
        hint = "the key selector must return a value of the declared key_type"
        record = NO_RECORD if index is None else values[index]
        raise operator_error(self._place, error, record, hint) from error


def _is_key(key: Any) -> bool:
    try:
        canonical_keys([key])
    except Exception:
        return False
    return True
