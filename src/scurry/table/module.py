"""Modules, in which functions are looked up."""

from __future__ import annotations

from typing import NoReturn

from scurry.common._api import ApiObject
from scurry.errors import UnsupportedError

__all__ = ["HiveModule", "Module", "ModuleEntry"]


class Module(ApiObject):
    """A module, in which functions are looked up: `core` has the built-in ones, `state` those that read savepoints."""


class HiveModule(Module):
    """The functions of Hive, which there are not."""

    def __init__(self, hive_version: str | None = None) -> NoReturn:
        """Refuse: there are no functions of Hive.

        Raises:
            UnsupportedError: Always.
        """
        raise UnsupportedError("HiveModule: functions of Hive cannot be called; most have a built-in one of their name")


class ModuleEntry(ApiObject):
    """A loaded module, and whether it is in use."""

    def __init__(self, name: str, used: bool) -> None:
        """Create an entry.

        Args:
            name: The name of the module.
            used: Whether it is in use.
        """
        self._name = name
        self._used = used

    def name(self) -> str:
        """Return the name."""
        return self._name

    def used(self) -> bool:
        """Return whether it is in use."""
        return self._used

    def __repr__(self) -> str:
        """Return both."""
        return f"ModuleEntry{{name='{self._name}', used={str(self._used).lower()}}}"

    def __eq__(self, other: object) -> bool:
        """Compare both."""
        return isinstance(other, ModuleEntry) and (self._name, self._used) == (other._name, other._used)

    def __lt__(self, other: ModuleEntry) -> bool:
        """Compare the names."""
        return self._name < other._name

    def __hash__(self) -> int:
        """Hash both."""
        return hash((self._name, self._used))
