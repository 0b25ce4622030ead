"""Alteration: the changes of ALTER TABLE to a table in a catalog of lakes."""

from __future__ import annotations

from collections.abc import Mapping

from scurry._dataclasses import dataclass
from scurry.errors import UnsupportedError
from scurry.sql.catalog.entries import CatalogBaseTable, CatalogTable
from scurry.sql.catalog.materialized import CatalogMaterializedTable
from scurry.sql.catalog.schema import Column


@dataclass(frozen=True)
class Alteration:
    """The difference between two descriptions of a table.

    Attributes:
        added: The columns that are new, which are the last ones.
        dropped: The names of columns that there are no longer.
        renamed: Former names of columns -> new ones.
        properties: Options that are set.
    """

    added: tuple[Column, ...]
    dropped: tuple[str, ...]
    renamed: Mapping[str, str]
    properties: Mapping[str, str]


def check_kept(catalog: str, system: str, connector: str, table: CatalogBaseTable) -> CatalogTable:
    """Return a table that a catalog of lakes can keep.

    Raises:
        UnsupportedError: It is a view, has another connector, or more than physical columns.
    """
    if not isinstance(table, CatalogTable):
        raise UnsupportedError(f"the catalog {catalog} keeps tables only: create a temporary view")
    if table.options.get("connector", connector) != connector:
        raise UnsupportedError(
            f"the catalog {catalog} keeps tables of {system} only: leave 'connector' out, or create a temporary table"
        )
    columns = table.schema.get_columns()
    if not all(column.is_physical() for column in columns) or table.schema.get_watermark_specs():
        raise UnsupportedError(
            f"the catalog {catalog} keeps physical columns only, without watermarks: create a temporary table"
        )
    return table


def plain(table: CatalogTable) -> CatalogTable:
    """Return a table without the definition of a materialized one."""
    return table.plain() if isinstance(table, CatalogMaterializedTable) else table


def same_table(before: CatalogTable, after: CatalogMaterializedTable) -> bool:
    """Return whether a materialized table changes nothing but its definition."""
    columns = before.schema.get_columns(), after.schema.get_columns()
    names = [[(column.name, column.data_type.nullable()) for column in each] for each in columns]
    given = plain(before).options
    changed = [key for key, value in after.connector_options.items() if key in given and given[key] != value]
    return names[0] == names[1] and not changed


def alteration(catalog: str, before: CatalogTable, after: CatalogTable) -> Alteration:
    """Return the changes that a statement makes.

    Args:
        after: The table as it shall be.

    Raises:
        UnsupportedError: It changes something else, or nothing that the catalog keeps.
    """
    old, new = before.schema.get_columns(), after.schema.get_columns()
    was, becomes = [column.name for column in old], [column.name for column in new]
    types = {column.name: column.data_type for column in old}
    changed = [column.name for column in new if types.get(column.name, column.data_type) != column.data_type]
    renamed: dict[str, str] = {}
    if len(old) == len(new):
        renamed = {a: b for a, b in zip(was, becomes, strict=True) if a != b}
        moved = bool(renamed.keys() & set(becomes))
        added, dropped = [], []
    else:
        added = [column for column in new if column.name not in types]
        dropped = [name for name in was if name not in becomes]
        moved = becomes != [name for name in was if name in becomes] + [column.name for column in added]
    what = f"the catalog {catalog} does not"
    if changed:
        raise UnsupportedError(f"{what} change the type of columns: {', '.join(changed)}")
    if moved:
        raise UnsupportedError(f"{what} change the order of columns: add columns as the last ones")
    for column in added:
        if not column.data_type.is_nullable:
            raise UnsupportedError(f"{what} add columns that are NOT NULL, as there are rows: {column.name}")
    if before.comment != after.comment or before.partition_keys != after.partition_keys:
        raise UnsupportedError(f"{what} change comments or partitions")
    properties = {key: value for key, value in after.options.items() if before.options.get(key) != value}
    if not (added or dropped or renamed or properties):
        raise UnsupportedError(f"{what} keep what this statement changes")
    return Alteration(tuple(added), tuple(dropped), renamed, properties)
