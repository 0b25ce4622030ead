"""The full name of a table, view or function."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ObjectIdentifier", "escape_identifier", "escape_text"]


def escape_identifier(name: str) -> str:
    """Return a name in backticks, as SQL reads it back."""
    return "`" + name.replace("`", "``") + "`"


def escape_text(text: str) -> str:
    """Return a text in single quotes, as SQL reads it back."""
    return "'" + text.replace("'", "''") + "'"


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
        """Return the full name of its parts."""
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

    def to_list(self) -> list[str]:
        """Return the three parts."""
        return [self.catalog, self.database, self.name]

    @staticmethod
    def anonymous(name: str) -> ObjectIdentifier:
        """Return the name of a table that is in no catalog; it has one part."""
        return ObjectIdentifier("", "", name)

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
