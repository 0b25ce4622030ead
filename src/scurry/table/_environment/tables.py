"""Tables of a TableEnvironment: of names and of descriptions."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from scurry.errors import ValidationError
from scurry.table._definitions import definition_of_schema
from scurry.table._environment.base import EnvironmentBase, parts_of, require
from scurry.table.schema import Schema
from scurry.table.table import Table
from scurry.table.table_descriptor import TableDescriptor

if TYPE_CHECKING:
    from scurry.sql.catalog.entries import CatalogTable
    from scurry.sql.catalog.identifier import ObjectIdentifier
    from scurry.table.table_environment import TableEnvironment

_A_DESCRIPTOR = "a TableDescriptor, which TableDescriptor.for_connector(...) begins"


class TableMethods(EnvironmentBase):
    """Methods of a TableEnvironment about its tables."""

    #: how many tables without a name there are so far
    _anonymous: int

    def from_descriptor(self, descriptor: TableDescriptor) -> Table:
        """Return the table that a description describes, without giving it a name.

        Args:
            descriptor: The description.

        Raises:
            ValidationError: The description is wrong, or has no schema.
        """
        found = self._table_at(self._anonymous_table(descriptor))
        assert found is not None, "it has just been added"
        return found

    def create_temporary_table(self, path: str, descriptor: TableDescriptor, ignoreIfExists: bool = False) -> None:
        """Add a temporary table.

        Args:
            path: Its name.
            descriptor: Its description.
            ignoreIfExists: Whether there may be one of that name.

        Raises:
            ValidationError: There is one of that name, or the description is wrong.
        """
        table = self._table_of(descriptor)
        self._session.catalogs.create_temporary_table(table, self._named(path), ignoreIfExists)

    def create_table(self, path: str, descriptor: TableDescriptor, ignoreIfExists: bool = False) -> bool:
        """Add a table; return whether there was none.

        Args:
            path: Its name.
            descriptor: Its description.
            ignoreIfExists: Whether there may be one of that name.

        Raises:
            ValidationError: There is one of that name, or the description is wrong.
        """
        table = self._table_of(descriptor)
        return self._session.catalogs.create_table(table, self._named(path), ignoreIfExists)

    def _table_of(self, descriptor: TableDescriptor) -> CatalogTable:
        from scurry.sql.statements.definitions.tables import table_of

        require(descriptor, TableDescriptor, _A_DESCRIPTOR)
        schema = descriptor.get_schema()
        if schema is None:
            raise ValidationError(
                "Missing schema in TableDescriptor. A schema is typically required. It can only be omitted at certain "
                "documented locations."
            )
        definition = definition_of_schema(schema)
        keys = tuple(descriptor.get_partition_keys())
        return table_of(self._session, definition, descriptor.get_options(), keys, None, descriptor.get_comment())

    def from_path(self, path: str) -> Table:
        """Return a table or view of the catalog.

        Args:
            path: Its name, of one to three parts.

        Raises:
            ValidationError: There is no such table.
        """
        found = self._table_at(self._named(path))
        if found is None:
            raise ValidationError(f"Table `{'`.`'.join(parts_of(path))}` was not found.")
        return found

    def _table_at(self, identifier: ObjectIdentifier) -> Table | None:
        from scurry.sql.statements.queries import plan_path

        found = self._session.catalogs.find_table(identifier)
        if found is None:
            return None
        return Table(cast("TableEnvironment", self), plan_path(self._session, identifier), found.table.schema)

    def _anonymous_table(self, descriptor: TableDescriptor) -> ObjectIdentifier:
        require(descriptor, TableDescriptor, _A_DESCRIPTOR)
        self._anonymous += 1
        name = f"*anonymous_{descriptor.get_options()['connector']}${self._anonymous}*"
        return self._session.catalogs.create_anonymous_table(self._table_of(descriptor), name)

    def _target(self, table: Table, path: str | TableDescriptor) -> ObjectIdentifier:
        """Return the table that the rows of another are written into; its schema may be that of the rows."""
        if isinstance(path, str):
            return self._named(path)
        require(path, TableDescriptor, f"the name of a table, or {_A_DESCRIPTOR}")
        if path.get_schema() is None:
            schema = Schema.new_builder().from_resolved_schema(table.get_resolved_schema()).build()
            path = TableDescriptor(schema, path.get_options(), path.get_partition_keys(), path.get_comment())
        return self._anonymous_table(path)
