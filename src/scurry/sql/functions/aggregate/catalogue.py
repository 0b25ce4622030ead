"""The catalogue of aggregate functions."""

from __future__ import annotations

import importlib
from functools import cache

from scurry.errors import ArgumentError
from scurry.sql.functions.aggregate.definition import AggregateFunction

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


def aggregate_names() -> list[str]:
    """Return the names of all aggregate functions, in alphabetical order."""
    return sorted(_functions())
