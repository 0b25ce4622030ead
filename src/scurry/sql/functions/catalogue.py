"""The catalogue of scalar functions and operators, and the names of all functions that statements can call."""

from __future__ import annotations

import importlib
from functools import cache

from scurry.errors import ArgumentError
from scurry.sql.functions.aggregate.catalogue import aggregate_names
from scurry.sql.functions.definition import ScalarFunction

#: The modules below `scurry.sql.functions` that have functions, each in a tuple `FUNCTIONS`.
FAMILIES = (
    "operators.access",
    "operators.arithmetic",
    "operators.comparison",
    "operators.conditional",
    "operators.conversion",
    "operators.logic",
    "operators.patterns",
    "scalar.bitmap",
    "scalar.clocks",
    "scalar.collections",
    "scalar.concatenation",
    "scalar.date_arithmetic",
    "scalar.date_parts",
    "scalar.date_rounding",
    "scalar.encoding",
    "scalar.json",
    "scalar.json_construction",
    "scalar.numeric",
    "scalar.objects",
    "scalar.printf",
    "scalar.random_numbers",
    "scalar.regular_expressions",
    "scalar.rounding",
    "scalar.splitting",
    "scalar.strings",
    "scalar.system",
    "scalar.time_formats",
)


@cache
def _functions() -> dict[str, ScalarFunction]:
    found: dict[str, ScalarFunction] = {}
    for family in FAMILIES:
        for function in importlib.import_module(f"scurry.sql.functions.{family}").FUNCTIONS:
            for name in (function.name, *function.aliases):
                if name in found:
                    raise ArgumentError(f"two functions are called {name}: in {family}, and before it")
                found[name] = function
    return found


def is_syntax(name: str) -> bool:
    """Return whether a name is that of an operator, which has its own syntax and cannot be called."""
    upper = name.upper()
    return upper in _SYNTAX or not upper.replace("_", "").isalnum()


#: The names of operators that look like those of functions.
_SYNTAX = frozenset(
    "AND ARRAY CASE CAST FIELD ITEM LIKE MAP MINUS_PREFIX MULTISET NEGATE NOT OR PLUS PLUS_PREFIX ROW SAFE_CAST "
    "TRY_CAST".split()
)


def lookup(name: str) -> ScalarFunction | None:
    """Return the function or operator of a name, in upper or lower case, or None if it does not exist."""
    return _functions().get(name.upper())


def scalar_function(name: str) -> ScalarFunction:
    """Return the function or operator of a name that is known to exist."""
    return _functions()[name]


def names() -> list[str]:
    """Return the names of all functions and operators, aliases too, in alphabetical order."""
    return sorted(_functions())


#: Functions that make windows: of tables, and in GROUP BY with their definitions.
WINDOW_FUNCTIONS = (
    "CUMULATE",
    "HOP",
    *(f"{kind}_{part}" for kind in ("HOP", "SESSION", "TUMBLE") for part in ("END", "PROCTIME", "ROWTIME", "START")),
    "SESSION",
    "TUMBLE",
)
#: Functions that plans call, and statements cannot.
_OF_PLANS = {"$SUM0", "MINUS_DATE", "OVERLAPS"}


@cache
def callable_functions() -> tuple[str, ...]:
    """Return the names of all functions, scalar, aggregate and of windows, in alphabetical order."""
    scalar = (name for name in names() if not is_syntax(name))
    return tuple(sorted({*scalar, *aggregate_names(), *WINDOW_FUNCTIONS} - _OF_PLANS))
