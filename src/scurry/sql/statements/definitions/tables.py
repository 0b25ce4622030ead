"""CREATE TABLE, also with LIKE, and DROP TABLE."""

from __future__ import annotations

from collections.abc import Mapping

from scurry.errors import ValidationError
from scurry.errors.suggestions import did_you_mean
from scurry.sql.catalog.entries import CatalogTable, ContextResolvedTable, TableDistribution
from scurry.sql.catalog.schema import UniqueConstraint
from scurry.sql.statements.definitions.like import merged
from scurry.sql.statements.definitions.schemas import Definition, pending_columns, resolve_schema
from scurry.sql.statements.names import options_of, qualified
from scurry.sql.statements.results import StatementResult, ok
from scurry.sql.statements.session import TableSession
from scurry.sql.syntax import nodes
from scurry.sql.syntax.span import Span


def create_table(session: TableSession, statement: nodes.CreateTable) -> StatementResult:
    identifier = qualified(session, statement.name)
    table = _table_of(session, statement)
    if statement.temporary:
        session.catalogs.create_temporary_table(table, identifier, statement.if_not_exists)
        return ok()
    session.catalogs.create_table(table, identifier, statement.if_not_exists)
    return ok()


def _table_of(session: TableSession, statement: nodes.CreateTable) -> CatalogTable:
    schema = statement.schema or nodes.TableSchema()
    own = definition_of(schema)
    options = options_of(statement.properties)
    keys = tuple(column.last for column in statement.partitioned_by)
    distribution = distribution_of(statement.distribution)
    if statement.like is not None:
        base = _base_table(session, statement.like)
        features = merged(base, own, options, keys, distribution, statement.like.options)
        own, options, keys, distribution = features
    return table_of(session, own, options, keys, distribution, statement.comment)


def table_of(
    session: TableSession,
    definition: Definition,
    options: Mapping[str, str],
    partition_keys: tuple[str, ...],
    distribution: TableDistribution | None,
    comment: str | None,
) -> CatalogTable:
    """Return a table with its columns resolved.

    Raises:
        ValidationError: A partition column does not exist, or the definition is wrong.
    """
    names = [column.name for column in definition.columns]
    listed = ", ".join(f"'{name}'" for name in names)
    for name in partition_keys:
        if name not in names:
            raise ValidationError(
                f"Partition column '{name}' not defined in the table schema. Available columns: [{listed}]"
            )
    physical = [column.name for column in definition.columns if column.kind == "regular"]
    available = f"must reference a physical column in the schema. Available columns are: [{', '.join(physical)}]"
    for name in partition_keys:
        if name not in physical:
            raise ValidationError(f"Invalid partition key '{name}'. A partition key {available}")
    for name in distribution.columns if distribution is not None else ():
        if name not in physical:
            raise ValidationError(f"Invalid bucket key '{name}'. A bucket key for a distribution {available}")
    if distribution is not None and distribution.buckets is not None and distribution.buckets < 1:
        raise ValidationError(
            f"Invalid bucket count '{distribution.buckets}'. The number of buckets for a distributed table must be at "
            "least 1."
        )
    schema = resolve_schema(session, definition)
    return CatalogTable(schema, comment, options, partition_keys, distribution)


def _base_table(session: TableSession, like: nodes.TableLikeClause) -> CatalogTable:
    identifier = qualified(session, like.table)
    found = session.catalogs.find_table(identifier)
    span = like.table.span
    if found is None:
        raise ValidationError(
            f"Source table '{identifier}' of the LIKE clause not found in the catalog, at line {span.line}, "
            f"column {span.column}"
        )
    if not isinstance(found.table, CatalogTable):
        raise ValidationError(
            f"Source table '{identifier}' of the LIKE clause can not be a VIEW, at line {span.line}, "
            f"column {span.column}"
        )
    return found.table


def definition_of(schema: nodes.TableSchema) -> Definition:
    """Return the definition in the parentheses of a statement.

    Raises:
        ValidationError: Two columns have one name, or there are two keys.
    """
    columns = pending_columns(schema.columns)
    key, spans = constraints_of(schema)
    watermark = None if schema.watermark is None else (schema.watermark.column.last, schema.watermark.expression)
    if watermark is None:
        return Definition(columns, None, key, key_spans=spans)
    assert schema.watermark is not None
    return Definition(columns, watermark, key, schema.watermark.column.span, spans)


def constraints_of(schema: nodes.TableSchema) -> tuple[UniqueConstraint | None, dict[str, Span]]:
    """Return the primary key of a definition, and where its columns stand.

    Raises:
        ValidationError: There are two, or one that Flink does not support.
    """
    found: list[tuple[str | None, list[nodes.Identifier]]] = []
    for column in schema.columns:
        if isinstance(column, nodes.PhysicalColumn) and column.constraint is not None:
            _check_constraint(column.constraint.kind, column.constraint.enforced)
            found.append((_name(column.constraint.name), [column.name]))
    for constraint in schema.constraints:
        _check_constraint(constraint.kind, constraint.enforced)
        found.append((_name(constraint.name), list(constraint.columns)))
    if not found:
        return None, {}
    if len(found) > 1:
        raise ValidationError("Duplicate primary key definition")
    name, columns = found[0]
    names = [column.last for column in columns]
    key = UniqueConstraint(name or f"PK_{'_'.join(names)}", tuple(names))
    return key, {column.last: column.span for column in columns}


def _name(identifier: nodes.Identifier | None) -> str | None:
    return None if identifier is None else identifier.last


def _check_constraint(kind: str, enforced: bool | None) -> None:
    if kind == "UNIQUE":
        raise ValidationError("UNIQUE constraint is not supported yet")
    if enforced is not False:
        raise ValidationError(
            "Flink doesn't support ENFORCED mode for PRIMARY KEY constraint. ENFORCED/NOT ENFORCED controls if the "
            "constraint checks are performed on the incoming/outgoing data. Flink does not own the data therefore the "
            "only supported mode is the NOT ENFORCED mode"
        ).with_hint("write PRIMARY KEY (...) NOT ENFORCED")


def distribution_of(distribution: nodes.Distribution | None) -> TableDistribution | None:
    """Return DISTRIBUTED of a statement."""
    if distribution is None:
        return None
    columns = tuple(column.last for column in distribution.columns)
    return TableDistribution(distribution.kind, columns, distribution.buckets)


def drop_table(session: TableSession, statement: nodes.DropTable) -> StatementResult:
    identifier = qualified(session, statement.name)
    if statement.temporary:
        session.catalogs.drop_temporary(identifier, statement.if_exists)
    else:
        session.catalogs.drop_table(identifier, statement.if_exists)
    return ok()


def analyze_table(session: TableSession, statement: nodes.AnalyzeTable) -> StatementResult:
    """Accept ANALYZE TABLE for a table that exists: nothing here plans by statistics."""
    identifier = qualified(session, statement.table)
    found = session.catalogs.find_table(identifier)
    if found is None or found.temporary:
        raise ValidationError(f"Table {identifier} doesn't exist or is a temporary table.").with_hint(
            "" if found else session.catalogs.similar(identifier.path)
        )
    _check_analyzed(found, statement)
    if session.is_streaming:
        raise ValidationError("ANALYZE TABLE is not supported for streaming mode now")
    return ok()


def _check_analyzed(found: ContextResolvedTable, statement: nodes.AnalyzeTable) -> None:
    table, given = found.table, [field.column.last for field in statement.partition]
    keys = table.partition_keys if isinstance(table, CatalogTable) else ()
    wrong = "Invalid ANALYZE TABLE statement."
    if given and not keys:
        raise ValidationError(
            f"{wrong} Table: {found.identifier} is not a partition table, while partition values are given."
        )
    if sorted(given) != sorted(keys):
        raise ValidationError(
            f"{wrong} For partition table, all partition keys should be specified explicitly. The given partition "
            f"keys: [{','.join(given)}] are not match the target partition keys: [{','.join(keys)}]."
        )
    for column in statement.columns:
        if column.last not in table.schema.get_column_names():
            error = ValidationError(f"Column: {column.last} does not exist in the table: {found.identifier}.")
            error.span = column.span
            raise error.with_hint(did_you_mean(column.last, table.schema.get_column_names()))
