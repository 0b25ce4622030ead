"""The catalogue of aggregate functions."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from scurry.errors import ArgumentError
from scurry.sql.functions.aggregate.definition import (
    USER_DEFINED,
    AggregateFunction,
    AggregateProperties,
    BatchState,
    Column,
    Partitions,
    PlaceFunction,
)

#: The modules of this package that have functions, each in a tuple `FUNCTIONS`.
FAMILIES = ("counts", "sums", "moments", "extremes", "collections", "json", "percentiles", "ranking", "bitmaps")


@cache
def _functions() -> dict[str, AggregateFunction]:
    found: dict[str, AggregateFunction] = {}
    for family in FAMILIES:
        for function in importlib.import_module(f"scurry.sql.functions.aggregate.{family}").FUNCTIONS:
            for name in (function.name, *function.aliases):
                if name in found:
                    raise ArgumentError(f"two aggregate functions are called {name}: in {family}, and before it")
                found[name] = function
    return found


def lookup_aggregate(name: str) -> AggregateFunction | None:
    """Return the aggregate function of a name, in upper or lower case, or None if it does not exist."""
    return _functions().get(name.upper())


def properties_of(function: Any) -> AggregateProperties:
    """Return the properties of the function of a call: the name of an aggregate, or a user-defined function."""
    return _functions()[function].properties if isinstance(function, str) else USER_DEFINED


def numbers_rows(function: Any) -> bool:
    """Return whether the function of a call numbers rows, as ROW_NUMBER does."""
    return isinstance(function, str) and _functions()[function].place is PlaceFunction.NUMBER


def looks_ahead(function: Any) -> bool:
    """Return whether a value of the function of a call depends on later rows, so that it has none in STREAMING."""
    return isinstance(function, str) and _functions()[function].looks_ahead


def place_kernel(function: Any) -> Callable[[Sequence[Column], Partitions], Column] | None:
    """Return the kernel of a function of the places of rows; None for an aggregate of frames."""
    return _functions()[function].at_places if isinstance(function, str) else None


def state_names(name: str, retracts: bool) -> tuple[str, ...]:
    """Return Flink's names of the columns of an aggregate's state, for EXPLAIN.

    Args:
        retracts: Whether rows may be taken back.
    """
    function = _functions()[name]
    names = function.state_names or (name.lower(),)
    return (function.retractable_state_names or names) if retracts else names


def batch_state(name: str) -> BatchState:
    return _functions()[name].batch_state


def aggregate_names() -> list[str]:
    """Return the names of all aggregate functions, in alphabetical order."""
    return sorted(_functions())
