"""Base of the methods of a TableEnvironment: its session, and qualified names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scurry.common._api import ApiObject
from scurry.common._removed import TABLE_ENVIRONMENT

if TYPE_CHECKING:
    from scurry.sql.catalog.identifier import ObjectIdentifier
    from scurry.sql.statements.session import TableSession


class EnvironmentBase(ApiObject):
    """A TableEnvironment as its methods see it."""

    _instead = TABLE_ENVIRONMENT
    _session: TableSession

    def _named(self, path: str) -> ObjectIdentifier:
        """Return the full name that a name of one to three parts means."""
        return self._session.catalogs.qualify(parts_of(path))


def parts_of(path: str) -> tuple[str, ...]:
    """Return the parts of a name; keywords need no backticks."""
    from scurry.sql.syntax.parser import parse_path

    return parse_path(path).names
