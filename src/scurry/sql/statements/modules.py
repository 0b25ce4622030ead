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


def module_function(modules: Iterable[str], name: str) -> UserFunction | None:
    """Return the function of a name that one of the modules has; those of `core` are not looked up here.

    Args:
        modules: The modules in use.
        name: The name, in any case.
    """
    if name.lower() not in module_functions(modules):
        return None
    from scurry.sql.savepoints.metadata import savepoint_metadata

    return savepoint_metadata()
