"""Modules: `core` with the built-in functions, and `state` with those that read savepoints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scurry.sql.functions.user.definition import UserFunction

STATE = "state"
#: The modules there are.
MODULES = ("core", STATE)
_SAVEPOINT_METADATA = "savepoint_metadata"


def module_functions(modules: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the functions of modules other than `core`."""
    return (_SAVEPOINT_METADATA,) if STATE in modules else ()


def functions_of(modules: Iterable[str]) -> dict[str, UserFunction]:
    """Return the functions of modules by their names in lower case; those of `core` are not among them."""
    if STATE not in modules:
        return {}
    from scurry.sql.savepoints.metadata import savepoint_metadata

    return {_SAVEPOINT_METADATA: savepoint_metadata()}


def module_function(modules: Iterable[str], name: str) -> UserFunction | None:
    """Return the function of a name, in any case, that one of the modules has."""
    return functions_of(modules).get(name.lower())
