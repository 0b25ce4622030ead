"""Partitions that catalogs keep: ALTER TABLE ADD and DROP PARTITION, SHOW PARTITIONS."""

from __future__ import annotations

from collections.abc import Sequence

from scurry.errors import CatalogError, TableNotExistError, TableNotPartitionedError, ValidationError
from scurry.sql.catalog.entries import CatalogTable
from scurry.sql.catalog.identifier import ObjectIdentifier
from scurry.sql.catalog.partitions import CatalogPartition
from scurry.sql.statements.names import options_of, qualified
from scurry.sql.statements.results import StatementResult, names_result
from scurry.sql.statements.session import TableSession
from scurry.sql.statements.text import sql_text
from scurry.sql.syntax import nodes


def alter_partitions(
    session: TableSession, identifier: ObjectIdentifier, action: nodes.AddPartitions | nodes.DropPartitions
) -> None:
    """Add or drop partitions of a table.

    Raises:
        ValidationError: The table has no partitions, a partition exists already, or one to drop does not exist.
    """
    catalog = session.catalogs.catalog(identifier.catalog)
    names = (identifier.database, identifier.name)
    if isinstance(action, nodes.AddPartitions):
        verb, may = "ADD", action.if_not_exists
        given = [(_values(each.fields), options_of(each.properties)) for each in action.partitions]
    else:
        verb, may = "DROP", action.if_exists
        given = [(_values(fields), {}) for fields in action.partitions]
    for values, properties in given:
        exists = catalog.find_partition(*names, values) is not None
        try:
            if verb == "DROP" and (exists or not may):
                catalog.drop_partition(*names, values)
            elif verb == "ADD" and not (exists and may):
                catalog.create_partition(*names, values, CatalogPartition(properties))
        except CatalogError as error:
            shown = ", ".join(f"{key}={value}" for key, value in values.items())
            raise ValidationError(
                f"Could not execute ALTER TABLE {identifier.as_summary_string()} {verb} PARTITION ({shown})\n{error}"
            ) from error


def show_partitions(session: TableSession, statement: nodes.ShowPartitions) -> StatementResult:
    """List the partitions that the catalog keeps.

    Raises:
        CatalogError: There is no such table, or it has no partitions.
    """
    identifier = qualified(session, statement.table)
    found = session.catalogs.find_table(identifier)
    name = f"{identifier.database}.{identifier.name}"
    if found is None:
        raise TableNotExistError(f"Table (or view) {name} does not exist in Catalog {identifier.catalog}.")
    if not isinstance(found.table, CatalogTable) or not found.table.partition_keys:
        raise TableNotPartitionedError(f"Table {name} in catalog {identifier.catalog} is not partitioned.")
    if found.temporary:
        return names_result("partition name", [])
    catalog = session.catalogs.catalog(identifier.catalog)
    partitions = catalog.list_partitions(identifier.database, identifier.name, _values(statement.partition))
    return names_result(
        "partition name", ["/".join(f"{key}={value}" for key, value in each.items()) for each in partitions]
    )


def _values(fields: Sequence[nodes.PartitionField]) -> dict[str, str]:
    return {each.column.last: _text(each.value) for each in fields if each.value is not None}


def _text(value: nodes.Expression) -> str:
    return value.value if isinstance(value, nodes.StringLiteral) else sql_text(value)
