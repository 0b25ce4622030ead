"""CREATE TABLE ... AS, CREATE OR REPLACE TABLE ... AS, REPLACE TABLE ... AS."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from scurry.errors import CatalogError, ValidationError
from scurry.sql.catalog.entries import CatalogTable
from scurry.sql.catalog.identifier import ObjectIdentifier
from scurry.sql.plan import builders
from scurry.sql.plan.nodes import Plan, Sink
from scurry.sql.statements.definitions.schemas import Definition, PendingColumn, pending_columns
from scurry.sql.statements.definitions.tables import constraints_of, distribution_of, table_of
from scurry.sql.statements.inserts import converted, execute_sinks, insert_plan
from scurry.sql.statements.names import options_of, qualified
from scurry.sql.statements.queries import plan_query
from scurry.sql.statements.results import StatementResult
from scurry.sql.statements.session import TableSession
from scurry.sql.syntax import nodes
from scurry.sql.types.cast_rules import supports_implicit_cast


def create_table_as(session: TableSession, statement: nodes.CreateTable) -> StatementResult:
    """Add a table with the columns of a query, and write the rows of the query into it."""
    if statement.temporary:
        raise ValidationError("CREATE TABLE AS SELECT syntax does not support to create temporary table yet.")
    session = session.executing(statement)
    identifier = qualified(session, statement.name)
    found = session.catalogs.find_table(identifier)
    if found is not None and statement.if_not_exists:
        assert statement.query is not None
        plan = plan_query(session, statement.query)
        return execute_sinks(session, [insert_plan(session, plan, identifier, overwrite=False)])
    table, sink = plan_create_table_as(session, statement)
    if statement.replace is not None:
        _replace(session, statement, identifier, table)
    else:
        session.catalogs.create_table(table, identifier, if_not_exists=False)
    return execute_sinks(session, [sink])


def _replace(
    session: TableSession, statement: nodes.CreateTable, identifier: ObjectIdentifier, table: CatalogTable
) -> None:
    if session.catalogs.find_table(identifier) is not None:
        session.catalogs.drop_table(identifier, if_exists=False)
    elif statement.replace == "REPLACE":
        raise CatalogError(
            f"The table {identifier} to be replaced doesn't exist. You can try to use CREATE TABLE AS statement or "
            "CREATE OR REPLACE TABLE AS statement."
        )
    session.catalogs.create_table(table, identifier, if_not_exists=False)


def plan_create_table_as(session: TableSession, statement: nodes.CreateTable) -> tuple[CatalogTable, Sink]:
    """Return the table and the plan that writes it.

    Raises:
        ValidationError: The query or the definition is wrong.
    """
    assert statement.query is not None
    identifier = qualified(session, statement.name)
    plan = plan_query(session, statement.query)
    schema = statement.schema or nodes.TableSchema()
    names_only = [c.name.last for c in schema.columns if isinstance(c, nodes.NameOnlyColumn)]
    own = pending_columns([c for c in schema.columns if not isinstance(c, nodes.NameOnlyColumn)])
    if names_only:
        plan = reordered(plan, names_only)
    queried = [PendingColumn(column.name, column.type, inherited=True) for column in plan.schema]
    key, spans = constraints_of(schema)
    watermark = None if schema.watermark is None else (schema.watermark.column.last, schema.watermark.expression)
    columns = query_columns(own, queried, () if key is None else key.columns)
    definition = Definition(columns, watermark, key, key_spans=spans)
    keys = tuple(column.last for column in statement.partitioned_by)
    distribution = distribution_of(statement.distribution)
    table = table_of(session, definition, options_of(statement.properties), keys, distribution, statement.comment)
    found = session.context_of(identifier, table)
    return table, converted(session, plan, found.identifier, table, list(plan.schema.names), {}, overwrite=False)


def reordered(plan: Plan, names: list[str]) -> Plan:
    """Return a plan with its columns in the order of a list of their names.

    Raises:
        ValidationError: The list has another name, or not all of them.
    """
    known = list(plan.schema.names)
    for name in names:
        if name not in known:
            raise ValidationError(f"Column '{name}' not found in the source schema.")
    if len(names) != len(known):
        raise ValidationError(
            "The number of columns in the column list must match the number of columns in the source schema."
        )
    return builders.project(plan, [builders.column(plan, known.index(name)) for name in names], names)


def query_columns(
    own: Sequence[PendingColumn], queried: Sequence[PendingColumn], key: Collection[str]
) -> list[PendingColumn]:
    """Return the columns that only the statement defines, then those of the query, as the statement has them."""
    defined = {column.name: column for column in own}
    names = {column.name for column in queried}
    _check(defined, queried, key)
    added = [column for column in own if column.name not in names]
    return added + [defined.get(column.name, column) for column in queried]


def _check(defined: Mapping[str, PendingColumn], queried: Sequence[PendingColumn], key: Collection[str]) -> None:
    """Refuse columns of the statement that cannot take the place of those of the query."""
    for position, source in enumerate(queried, 1):
        column = defined.get(source.name)
        if column is None:
            continue
        if column.data_type is None:
            raise ValidationError(
                f"A column named '{column.name}' already exists in the source schema. Computed columns cannot "
                "overwrite columns from source."
            )
        assert source.data_type is not None
        target = column.data_type.not_null() if column.name in key else column.data_type
        nullable = source.data_type.is_nullable and not target.is_nullable
        if nullable or not supports_implicit_cast(source.data_type, target):
            raise ValidationError(
                f"Incompatible types for sink column '{column.name}' at position {position}. The source column has "
                f"type '{source.data_type.as_summary_string()}', while the target column has type "
                f"'{target.as_summary_string()}'."
            )
