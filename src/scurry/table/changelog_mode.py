"""ChangelogMode: the kinds of changes of a changelog stream."""

from __future__ import annotations

from scurry.common._api import ApiObject
from scurry.common.types import RowKind

__all__ = ["ChangelogMode"]


class ChangelogMode(ApiObject):
    """The kinds of changes of a changelog stream."""

    def __init__(self, kinds: frozenset[RowKind]) -> None:
        self._kinds = kinds

    @staticmethod
    def insert_only() -> ChangelogMode:
        """Return the mode of rows that are only added."""
        return ChangelogMode(frozenset({RowKind.INSERT}))

    @staticmethod
    def upsert() -> ChangelogMode:
        """Return the mode of updates by key, which have no row before them."""
        return ChangelogMode(frozenset(RowKind) - {RowKind.UPDATE_BEFORE})

    @staticmethod
    def all() -> ChangelogMode:
        """Return the mode of all kinds of changes."""
        return ChangelogMode(frozenset(RowKind))

    def __eq__(self, other: object) -> bool:
        """Compare the kinds."""
        return isinstance(other, ChangelogMode) and self._kinds == other._kinds

    def __hash__(self) -> int:
        """Hash the kinds."""
        return hash(self._kinds)

    def __str__(self) -> str:
        """Return for example `[INSERT, UPDATE_AFTER, DELETE]`."""
        return f"[{', '.join(kind.name for kind in RowKind if kind in self._kinds)}]"

    @property
    def _changes(self) -> str:
        """Return the changes that a sink of this mode accepts: INSERT, UPSERT or ALL."""
        if RowKind.UPDATE_BEFORE in self._kinds:
            return "ALL"
        return "UPSERT" if RowKind.UPDATE_AFTER in self._kinds else "INSERT"
