"""The table that CREATE MATERIALIZED TABLE defines: its columns follow from the query, its mode from the freshness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scurry.common._config.tables import DEFAULT_FRESHNESS_CONTINUOUS, DEFAULT_FRESHNESS_FULL, FRESHNESS_THRESHOLD
from scurry.errors import UnsupportedError, ValidationError
from scurry.sql.catalog.catalog import GenericInMemoryCatalog
from scurry.sql.catalog.identifier import ObjectIdentifier
from scurry.sql.catalog.materialized import (
    DATE_FORMATTER,
    PARTITION_FIELDS,
    CatalogMaterializedTable,
    IntervalFreshness,
    RefreshMode,
)
from scurry.sql.catalog.schema import ResolvedSchema
from scurry.sql.plan.nodes import Plan
from scurry.sql.statements.definitions.create_table_as import query_columns, reordered
from scurry.sql.statements.definitions.expansion import expanded
from scurry.sql.statements.definitions.schemas import Definition, PendingColumn, pending_columns
from scurry.sql.statements.definitions.tables import constraints_of, distribution_of, table_of
from scurry.sql.statements.names import options_of, qualified
from scurry.sql.statements.queries import plan_query
from scurry.sql.statements.session import TableSession
from scurry.sql.statements.text import sql_text
from scurry.sql.syntax import nodes
from scurry.sql.syntax.parser import parse
from scurry.sql.types import CharType, VarCharType

_UNITS = ("SECOND", "MINUTE", "HOUR", "DAY", "WEEK")
_FROM_BEGINNING, _RESUME = "FROM_BEGINNING", "RESUME_OR_FROM_BEGINNING"
_FAILED = "Failed to execute ALTER MATERIALIZED TABLE statement.\n"
_ELSEWHERE = ("FROM_NOW", "FROM_TIMESTAMP", "RESUME_OR_FROM_NOW", "RESUME_OR_FROM_TIMESTAMP")
_START_MODES = (_FROM_BEGINNING, _RESUME, *_ELSEWHERE)


def materialized_table_of(session: TableSession, statement: nodes.CreateMaterializedTable) -> CatalogMaterializedTable:
    """Return the table that a statement defines.

    Raises:
        ValidationError: The query, the columns, the freshness or a partition column is wrong.
        UnsupportedError: START_MODE is one that sources cannot follow.
    """
    freshness, logical, mode = _refreshing(session, statement)
    start_mode = _start_mode(statement.start_mode)
    plan = plan_query(session, statement.query)
    schema = statement.schema or nodes.TableSchema()
    named = [column.name.last for column in schema.columns if isinstance(column, nodes.NameOnlyColumn)]
    own = pending_columns([column for column in schema.columns if not isinstance(column, nodes.NameOnlyColumn)])
    plan = reordered(plan, named) if named else plan
    key, spans = constraints_of(schema)
    watermark = None if schema.watermark is None else (schema.watermark.column.last, schema.watermark.expression)
    columns = _columns(own, plan, () if key is None else key.columns)
    definition = Definition(columns, watermark, key, key_spans=spans)
    keys, options = tuple(column.last for column in statement.partitioned_by), options_of(statement.properties)
    _check_partitions(keys, options, columns)
    distribution = distribution_of(statement.distribution)
    table = table_of(session, definition, options, keys, distribution, statement.comment)
    identifier = qualified(session, statement.name)
    refuse_temporary(session, identifier, statement.query)
    return CatalogMaterializedTable(
        table.schema,
        table.comment,
        table.options,
        table.partition_keys,
        table.distribution,
        original_query=statement.query.span.source or sql_text(statement.query),
        expanded_query=expanded(session, statement.query),
        freshness=freshness,
        logical_refresh_mode=logical,
        refresh_mode=mode,
        start_mode=start_mode,
    )


def with_query(
    session: TableSession, identifier: ObjectIdentifier, table: CatalogMaterializedTable, query: nodes.Query
) -> CatalogMaterializedTable:
    """Return a table with another query, whose further columns become the last ones.

    Raises:
        ValidationError: The query is wrong, or does not begin with the columns that there are.
    """
    if not all(column.is_physical() for column in table.schema.get_columns()):
        raise ValidationError(
            "ALTER query for MATERIALIZED TABLE with schema containing non persisted columns is not supported, "
            "consider using CREATE OR ALTER MATERIALIZED TABLE instead"
        )
    plan = plan_query(session, query)
    before = table.schema.get_columns()
    _check_appended([(column.name, column.data_type) for column in before], plan)
    added = [
        PendingColumn(column.name, column.type.nullable(), inherited=True)
        for column in list(plan.schema)[len(before) :]
    ]
    definition = Definition.of(table.schema)
    definition = replace(definition, columns=[*definition.columns, *added])
    made = table_of(session, definition, {}, table.partition_keys, table.distribution, table.comment)
    refuse_temporary(session, identifier, query)
    return replace(
        table,
        schema=made.schema,
        original_query=query.span.source or sql_text(query),
        expanded_query=expanded(session, query),
    )


def altered(before: CatalogMaterializedTable, after: CatalogMaterializedTable, path: str) -> CatalogMaterializedTable:
    """Return a table as CREATE OR ALTER makes it of one that exists.

    Args:
        after: The table that the statement defines.
        path: Its name, for errors.

    Raises:
        ValidationError: The refresh mode is another one, or columns are not only appended.
    """
    if after.logical_refresh_mode not in ("AUTOMATIC", before.refresh_mode.value):
        raise ValidationError("Changing of REFRESH MODE is unsupported").with_hint(
            f"drop {path} and create it in the other mode"
        )
    old = [column for column in before.schema.get_columns() if column.is_persisted()]
    new = [column for column in after.schema.get_columns() if column.is_persisted()]
    _check_names(
        [(column.name, column.data_type.as_summary_string()) for column in old],
        [(column.name, column.data_type.as_summary_string()) for column in new],
    )
    if before.partition_keys != after.partition_keys and after.partition_keys:
        raise ValidationError(f"The partition columns of {path} cannot be changed: drop it and create it again")
    nullable = {column.name for column in new[len(old) :]}
    columns = [
        replace(column, data_type=column.data_type.nullable()) if column.name in nullable else column
        for column in after.schema.get_columns()
    ]
    specs, key = after.schema.get_watermark_specs(), after.schema.get_primary_key()
    return replace(
        after,
        schema=ResolvedSchema(columns, specs, key),
        partition_keys=before.partition_keys,
        options={**before.options, **after.options},
        freshness=before.freshness,
        logical_refresh_mode=before.logical_refresh_mode,
        refresh_mode=before.refresh_mode,
        refresh_status=before.refresh_status,
        handler=before.handler,
    )


def resumes(table: CatalogMaterializedTable) -> bool:
    """Return whether a changed table goes on with the state that it had."""
    return table.start_mode == _RESUME


# ------------------------------------------------------------------ columns


def _columns(own: Sequence[PendingColumn], plan: Plan, key: Sequence[str]) -> list[PendingColumn]:
    queried = [PendingColumn(column.name, column.type, inherited=True) for column in plan.schema]
    names = {column.name for column in queried}
    for column in own:
        if column.name not in names and (column.kind == "regular" or (column.is_metadata and not column.virtual)):
            kind = "physical" if column.kind == "regular" else "metadata persisted"
            raise ValidationError(
                f"Invalid as {kind} column '{column.name}' is defined in the DDL, but is not used in a query column."
            )
    return query_columns(own, queried, key)


def _check_partitions(keys: Sequence[str], options: dict[str, str], columns: Sequence[PendingColumn]) -> None:
    types = {column.name: column.data_type for column in columns}
    available = ", ".join(f"'{name}'" for name in types)
    for name in keys:
        if name not in types:
            raise ValidationError(
                f"Partition column '{name}' not defined in the query's schema. Available columns: [{available}]."
            )
    for option in options:
        if not (option.startswith(PARTITION_FIELDS) and option.endswith(DATE_FORMATTER)):
            continue
        name = option[len(PARTITION_FIELDS) : -len(DATE_FORMATTER)]
        if name not in keys:
            listed = ", ".join(f"'{key}'" for key in keys)
            raise ValidationError(
                f"Column '{name}' referenced by materialized table option '{option}' isn't a partition column. "
                f"Available partition columns: [{listed}]."
            )
        kind = types[name]
        if kind is not None and not isinstance(kind, CharType | VarCharType):
            raise ValidationError(
                f"Materialized table option '{option}' only supports referring to char, varchar and string type "
                f"partition column. Column `{name}` type is {kind.as_summary_string()}."
            )


def _check_appended(old: Sequence[tuple[str, object]], plan: Plan) -> None:
    _check_names(
        [(name, str(kind.as_summary_string())) for name, kind in old],  # type: ignore[attr-defined]
        [(column.name, column.type.as_summary_string()) for column in plan.schema],
    )


def _check_names(old: Sequence[tuple[str, str]], new: Sequence[tuple[str, str]]) -> None:
    """Refuse columns that do not begin with those that there are; only appended columns may differ in NOT NULL."""
    if len(new) < len(old):
        raise ValidationError(
            "Failed to modify query because drop column is unsupported. When modifying a query, you can only append "
            f"new columns at the end of original schema. The original schema has {len(old)} columns, but the newly "
            f"derived schema from the query has {len(new)} columns."
        )
    for position, (one, other) in enumerate(zip(old, new, strict=False), 1):
        if one[0] != other[0] or one[1].removesuffix(" NOT NULL") != other[1].removesuffix(" NOT NULL"):
            raise ValidationError(
                "When modifying the query of a materialized table, currently only support appending columns at the "
                "end of original schema, dropping, renaming, and reordering columns are not supported.\n"
                f"Column mismatch at position {position}: Original column is [`{one[0]}` {one[1]}], but new column is "
                f"[`{other[0]}` {other[1]}]."
            )


def check_kept_columns(before: CatalogMaterializedTable, after: CatalogMaterializedTable) -> None:
    """Refuse changes of the columns that the query fills.

    Raises:
        ValidationError: A column would have no values, or values would have no column.
    """
    old = {column.name: column for column in before.schema.get_columns() if column.is_persisted()}
    new = {column.name: column for column in after.schema.get_columns() if column.is_persisted()}
    for name, column in new.items():
        if name not in old:
            kind = "physical" if column.is_physical() else "metadata persisted"
            raise ValidationError(
                f"{_FAILED}Invalid schema change. All persisted (physical and metadata) columns in the schema part "
                "need to be present in the query part.\n"
                f"However, {kind} column `{name}` could not be found in the query."
            )
    for name in old:
        if name not in new:
            raise ValidationError(f"{_FAILED}Column(s) ('{name}') are used in query.")


def as_materialized(message: str) -> str:
    """Return an error of ALTER TABLE as one of materialized tables."""
    return (
        message.replace("ALTER TABLE", "ALTER MATERIALIZED TABLE")
        .replace("The current table", "The current materialized table")
        .replace("already exists in the table.", "already exists in the materialized table.")
        .replace(f"{_FAILED}Table ", "Materialized table ")
    )


def refuse_temporary(session: TableSession, identifier: ObjectIdentifier, query: nodes.Query) -> None:
    """Refuse a query of temporary tables for a table that other processes refresh, too.

    Raises:
        ValidationError: It reads one.
    """
    if isinstance(session.catalogs.find_catalog(identifier.catalog), GenericInMemoryCatalog):
        return
    parsed = parse(expanded(session, query))
    for node in nodes.walk(parsed):
        if not isinstance(node, nodes.TableReference):
            continue
        found = session.catalogs.find_table(qualified(session, node.name))
        if found is not None and found.temporary:
            raise ValidationError(
                f"The query of the materialized table {identifier.as_summary_string()} reads the temporary table "
                f"{found.identifier.as_summary_string()}, which other sessions that refresh it do not have."
            ).with_hint("create the table in a catalog")


# ------------------------------------------------------------------ refreshing


def _refreshing(
    session: TableSession, statement: nodes.CreateMaterializedTable
) -> tuple[IntervalFreshness, str, RefreshMode]:
    """Return the freshness, the mode of REFRESH_MODE, and the mode that follows from both."""
    logical = statement.refresh_mode or "AUTOMATIC"
    freshness = None if statement.freshness is None else _freshness(statement.freshness)
    if freshness is None:
        default = DEFAULT_FRESHNESS_FULL if logical == "FULL" else DEFAULT_FRESHNESS_CONTINUOUS
        freshness = IntervalFreshness.of_milliseconds(session.get(default))
        mode = RefreshMode(logical) if logical != "AUTOMATIC" else RefreshMode.CONTINUOUS
    elif logical == "AUTOMATIC":
        is_short = freshness.milliseconds < session.get(FRESHNESS_THRESHOLD)
        mode = RefreshMode.CONTINUOUS if is_short else RefreshMode.FULL
    else:
        mode = RefreshMode(logical)
    if mode is RefreshMode.FULL:
        freshness.cron()  # reports one that there is no cron expression for
    return freshness, logical, mode


def _freshness(written: nodes.Expression) -> IntervalFreshness:
    assert isinstance(written, nodes.IntervalLiteral)
    unit = written.qualifier.start
    if unit not in _UNITS or written.qualifier.end is not None:
        raise ValidationError(
            "Materialized table freshness only supports SECOND, MINUTE, HOUR, DAY, WEEK as the time unit."
        )
    text = written.text.strip()
    try:
        number = int(text.partition(".")[0])
    except ValueError:
        raise ValidationError(f"FRESHNESS = INTERVAL '{text}' {unit}: '{text}' is no number") from None
    return IntervalFreshness(-number if written.negative else number, unit)


def _start_mode(written: nodes.Expression | None) -> str:
    if written is None:
        return _FROM_BEGINNING
    name = written if isinstance(written, nodes.Identifier) else getattr(written, "name", None)
    mode = name.last.upper() if isinstance(name, nodes.Identifier) else ""
    if mode not in _START_MODES:
        raise ValidationError(f"START_MODE is one of {', '.join(_START_MODES)}")
    if mode in _ELSEWHERE:
        raise UnsupportedError(
            f"START_MODE = {mode} is not supported (Flink 2.3 reads it and begins at the beginning): {_FROM_BEGINNING} "
            f"and {_RESUME} are"
        ).with_hint("options of the source say where it begins: FROM t /*+ OPTIONS('scan.startup.mode' = '...') */")
    return mode
