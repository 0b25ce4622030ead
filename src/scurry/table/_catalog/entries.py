"""The objects of catalogs, as programs see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scurry.common._api import ApiObject
from scurry.errors import ArgumentError
from scurry.sql.catalog import entries
from scurry.sql.catalog.schema import ResolvedSchema
from scurry.table.schema import Schema
from scurry.table.table_schema import TableSchema


class CatalogDatabase(ApiObject):
    """A database."""

    def __init__(self, database: entries.CatalogDatabase) -> None:
        """Wrap a database; use `create_instance`."""
        self._database = database

    @staticmethod
    def create_instance(properties: Mapping[str, str], comment: str | None = None) -> CatalogDatabase:
        """Describe a database.

        Args:
            properties: Its properties.
            comment: Its description.
        """
        return CatalogDatabase(entries.CatalogDatabase(dict(properties), comment))

    def get_properties(self) -> dict[str, str]:
        """Return its properties."""
        return dict(self._database.properties)

    def get_comment(self) -> str | None:
        """Return its description."""
        return self._database.comment

    def copy(self) -> CatalogDatabase:
        """Return an equal one."""
        return CatalogDatabase(self._database)

    def get_description(self) -> str | None:
        """Return its description."""
        return self._database.comment

    def get_detailed_description(self) -> str | None:
        """Return its description."""
        return self._database.comment


class CatalogBaseTable(ApiObject):
    """A table or a view."""

    def __init__(self, table: entries.CatalogBaseTable) -> None:
        """Wrap a table; use `create_table` and `create_view`."""
        self._table = table

    @staticmethod
    def create_table(
        schema: TableSchema,
        partition_keys: Sequence[str] = (),
        properties: Mapping[str, str] | None = None,
        comment: str | None = None,
    ) -> CatalogBaseTable:
        """Describe a table.

        Args:
            schema: Its columns.
            partition_keys: Names of its partition columns.
            properties: Its options.
            comment: Its description.
        """
        return CatalogBaseTable(
            entries.CatalogTable(_resolved(schema), comment or "", dict(properties or {}), tuple(partition_keys))
        )

    @staticmethod
    def create_view(
        original_query: str,
        expanded_query: str,
        schema: TableSchema,
        properties: Mapping[str, str],
        comment: str | None = None,
    ) -> CatalogBaseTable:
        """Describe a view.

        Args:
            original_query: Its query, as the user wrote it.
            expanded_query: Its query with all names in full.
            schema: Its columns.
            properties: Its options.
            comment: Its description.
        """
        return CatalogBaseTable(
            entries.CatalogView(_resolved(schema), comment, dict(properties), original_query, expanded_query)
        )

    def get_options(self) -> dict[str, str]:
        """Return its options."""
        return dict(self._table.options)

    def get_unresolved_schema(self) -> Schema:
        """Return its columns, watermark and key."""
        return Schema.new_builder().from_resolved_schema(self._table.schema).build()

    def get_comment(self) -> str:
        """Return its description, an empty text if it has none."""
        return self._table.comment or ""

    def copy(self) -> CatalogBaseTable:
        """Return an equal one."""
        return CatalogBaseTable(self._table)

    def get_description(self) -> str:
        """Return its description, an empty text if it has none."""
        return self._table.comment or ""

    def get_detailed_description(self) -> str | None:
        """Return that a view is one; None for a table."""
        is_view = isinstance(self._table, entries.CatalogView | entries.QueryView)
        return "This is a catalog view implementation" if is_view else None


class CatalogFunction(ApiObject):
    """A function."""

    def __init__(self, function: entries.CatalogFunction) -> None:
        """Wrap a function; use `create_instance`."""
        self._function = function

    @staticmethod
    def create_instance(class_name: str, function_language: str = "Python") -> CatalogFunction:
        """Describe a function.

        Args:
            class_name: Module and name, such as `functions.upper`.
            function_language: `Python`, `Java` or `Scala`; only functions of Python can be called.

        Raises:
            ArgumentError: The name is empty, or there is no such language.
        """
        if function_language.lower() not in ("python", "java", "scala"):
            raise ArgumentError("function_language must be one of 'Python', 'Java' or 'Scala'")
        if not class_name:
            raise ArgumentError("the name of a function must not be empty")
        return CatalogFunction(entries.CatalogFunction(class_name, function_language.upper()))

    def get_class_name(self) -> str:
        """Return module and name."""
        return self._function.class_name

    def copy(self) -> CatalogFunction:
        """Return an equal one."""
        return CatalogFunction(self._function)

    def get_description(self) -> str:
        """Return the description of the function."""
        return "This is a user-defined function"

    def get_detailed_description(self) -> str:
        """Return the detailed description of the function."""
        return "This is a user-defined function"

    def get_function_language(self) -> str:
        """Return the language: `PYTHON`, `JAVA` or `SCALA`."""
        return self._function.language

    def get_options(self) -> dict[str, str]:
        """Return its options: it has none."""
        return {}


def _resolved(schema: TableSchema) -> ResolvedSchema:
    return ResolvedSchema.physical(schema.get_field_names(), schema.get_field_data_types())
