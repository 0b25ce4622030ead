"""The names of tables, views and functions: within a catalog, and the full one."""

from __future__ import annotations

from functools import total_ordering

from scurry._dataclasses import dataclass
from scurry.errors import ArgumentError


def escape_identifier(name: str) -> str:
    """Return a name in backticks, as SQL reads it back."""
    return "`" + name.replace("`", "``") + "`"


def escape_text(text: str) -> str:
    """Return a text in single quotes, as SQL reads it back."""
    return "'" + text.replace("'", "''") + "'"


@total_ordering
class ObjectPath:
    """The name of a table, view or function within a catalog: database and name."""

    def __init__(self, database_name: str, object_name: str) -> None:
        """Create a path from both names.

        Args:
            database_name: Name of the database.
            object_name: Name of the table, view or function.

        Raises:
            ArgumentError: One is empty.
        """
        if not database_name or not object_name:
            raise ArgumentError(
                f"{'objectName' if database_name else 'databaseName'} cannot be null or empty: an ObjectPath has both"
            )
        self._database = database_name
        self._name = object_name

    @staticmethod
    def from_string(full_name: str) -> ObjectPath:
        """Return the path of a text.

        Args:
            full_name: `database.name`.

        Raises:
            ArgumentError: It has another form.
        """
        parts = full_name.split(".")
        if len(parts) != 2:
            raise ArgumentError(
                f"Cannot get split '{full_name}' to get databaseName and objectName: expected 'database.name'"
            )
        return ObjectPath(*parts)

    def get_database_name(self) -> str:
        """Return the name of the database."""
        return self._database

    def get_object_name(self) -> str:
        """Return the name of the table, view or function."""
        return self._name

    def get_full_name(self) -> str:
        """Return both names with a point between them."""
        return f"{self._database}.{self._name}"

    def compare_to(self, other: ObjectPath) -> int:
        """Return -1, 0 or 1: whether this path is before, equal to or after another."""
        return (self > other) - (self < other)

    def __str__(self) -> str:
        """Return both names with a point between them."""
        return self.get_full_name()

    def __eq__(self, other: object) -> bool:
        """Compare both names."""
        return isinstance(other, ObjectPath) and self.get_full_name() == other.get_full_name()

    def __lt__(self, other: object) -> bool:
        """Compare both names."""
        if not isinstance(other, ObjectPath):
            return NotImplemented
        return self.get_full_name() < other.get_full_name()

    def __hash__(self) -> int:
        """Hash both names."""
        return hash(self.get_full_name())


@dataclass(frozen=True, order=True)
class ObjectIdentifier:
    """Catalog, database and name.

    Attributes:
        catalog: Name of the catalog.
        database: Name of the database.
        name: Name of the object.
    """

    catalog: str
    database: str
    name: str

    @staticmethod
    def of(catalog_name: str, database_name: str, object_name: str) -> ObjectIdentifier:
        """Return the full name of its parts.

        Raises:
            ArgumentError: One is None.
        """
        if None in (catalog_name, database_name, object_name):
            raise ArgumentError("catalog, database and object name must not be null: an ObjectIdentifier has all three")
        return ObjectIdentifier(catalog_name, database_name, object_name)

    def get_catalog_name(self) -> str:
        """Return the name of the catalog."""
        return self.catalog

    def get_database_name(self) -> str:
        """Return the name of the database."""
        return self.database

    def get_object_name(self) -> str:
        """Return the name of the object."""
        return self.name

    def to_object_path(self) -> ObjectPath:
        """Return the name within the catalog."""
        return ObjectPath(self.database, self.name)

    def to_list(self) -> list[str]:
        """Return the three parts."""
        return [self.catalog, self.database, self.name]

    @staticmethod
    def anonymous(name: str) -> ObjectIdentifier:
        """Return the name of a table that is in no catalog; it has one part."""
        return ObjectIdentifier("", "", name)

    @property
    def is_anonymous(self) -> bool:
        """Return whether the table is in no catalog."""
        return not self.catalog

    @property
    def path(self) -> tuple[str, ...]:
        """The parts of the name."""
        return (self.catalog, self.database, self.name) if self.catalog else (self.name,)

    def as_serializable_string(self) -> str:
        """Return the name as SQL reads it back, in backticks."""
        return ".".join(map(escape_identifier, self.path))

    def as_summary_string(self) -> str:
        """Return the name as messages show it, without backticks."""
        return ".".join(self.path)

    def __str__(self) -> str:
        """Return the name in backticks."""
        return self.as_serializable_string()
