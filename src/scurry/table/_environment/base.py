"""Base of the methods of a TableEnvironment: its session, and qualified names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scurry.common._api import ApiObject
from scurry.common._removed import TABLE_ENVIRONMENT
from scurry.errors import ArgumentTypeError

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


def require(given: Any, kind: type, what: str) -> None:
    """Refuse an argument of another class.

    Args:
        given: The argument.
        kind: Its class.
        what: What the method takes, such as `a TableDescriptor`.

    Raises:
        ArgumentTypeError: It is of another class.
    """
    if not isinstance(given, kind):
        raise ArgumentTypeError(f"expected {what}, got {given!r}")


def parts_of(path: str) -> tuple[str, ...]:
    """Return the parts of a name; keywords need no backticks."""
    require(path, str, "a name as text")
    from scurry.sql.syntax.parser import parse_path

    return parse_path(path).names
