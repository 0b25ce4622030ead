"""The jobs that refresh materialized tables: a STREAMING one in CONTINUOUS mode, BATCH ones that replace rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from scurry.common._config.tables import DML_SYNC
from scurry.common.config_options import JOB_NAME, RUNTIME_MODE
from scurry.common.configuration import Configuration
from scurry.errors import ValidationError
from scurry.sql.catalog.entries import ContextResolvedTable
from scurry.sql.catalog.identifier import ObjectIdentifier, escape_identifier, escape_text
from scurry.sql.catalog.materialized import CatalogMaterializedTable
from scurry.sql.connectors import factories
from scurry.sql.connectors.contract import RowChange, RowChanges, SinkTarget
from scurry.sql.plan.nodes import Sink
from scurry.sql.statements.inserts import converted, execute_sinks, plan_insert
from scurry.sql.statements.jobs import StatementJob
from scurry.sql.statements.queries import plan_query, result_names
from scurry.sql.statements.session import TableSession
from scurry.sql.syntax import nodes
from scurry.sql.syntax.parser import parse

#: Key with which a session runs the statement REFRESH: the process that has it refreshes the table itself.
REFRESH_KEY = "$internal.materialized-table.refresh"
#: Key of the time of a periodic refresh, which a workflow of a session sets.
SCHEDULE_TIME_KEY = "$internal.schedule-time"
#: Settings of the session that its refresh jobs have in their own way.
_OF_THE_JOB = (JOB_NAME.key, RUNTIME_MODE.key, "execution.state-recovery.path", "execution.checkpointing.dir")


def configured(session: TableSession, settings: Mapping[str, str]) -> TableSession:
    """Return the session in which a refresh job is planned and executed.

    Args:
        settings: The job's own settings, its mode among them.
    """
    kept = {key: value for key, value in session.configuration.to_dict().items() if key not in _OF_THE_JOB}
    configuration = Configuration.from_dict({**kept, **settings, DML_SYNC.key: "false"})
    streaming = settings[RUNTIME_MODE.key] != "BATCH"
    return replace(
        session, configuration=configuration, is_streaming=streaming, statement=None, executed="", script="", line=1
    )


def continuous_name(identifier: ObjectIdentifier) -> str:
    """Return the name of the job of CONTINUOUS mode."""
    return f"Materialized_table_{identifier}_continuous_refresh_job"


def refresh_name(identifier: ObjectIdentifier, periodic: bool) -> str:
    """Return the name of a job that replaces the rows of a table."""
    return f"Materialized_table_{identifier}_{'periodic' if periodic else 'one_time'}_refresh_job"


def insert_statement(
    session: TableSession,
    identifier: ObjectIdentifier,
    table: CatalogMaterializedTable,
    options: Mapping[str, str],
) -> str:
    """Return the INSERT of a refresh job, whose columns are those of the query by their names.

    Args:
        options: Options of the table for this job alone.
    """
    names = ", ".join(map(escape_identifier, result_names(session, table.expanded_query)))
    listed = ", ".join(f"{escape_text(key)} = {escape_text(value)}" for key, value in options.items())
    hint = f" /*+ OPTIONS({listed}) */" if listed else ""
    return f"INSERT INTO {identifier}{hint} ({names})\n{table.expanded_query}"


def start_continuous(
    session: TableSession, identifier: ObjectIdentifier, table: CatalogMaterializedTable, options: Mapping[str, str]
) -> StatementJob:
    """Start the job of CONTINUOUS mode.

    Args:
        options: Options of the table for this job alone.

    Raises:
        ScurryError: The job cannot start, because its table does not take the changes of the query, for example.
    """
    statement = parse(insert_statement(session, identifier, table, options))
    assert isinstance(statement, nodes.Insert)
    session = session.executing(statement)
    job = execute_sinks(session, [plan_insert(session, statement)]).job
    assert isinstance(job, StatementJob)
    return job


def refresh(
    session: TableSession, identifier: ObjectIdentifier, table: CatalogMaterializedTable, partition: Mapping[str, str]
) -> StatementJob:
    """Start the BATCH job that replaces the rows of a table, or those of a partition.

    Args:
        partition: The values of partition columns; empty for the whole table.

    Raises:
        ScurryError: The job cannot start.
    """
    session = session.executing()
    job = execute_sinks(session, [replacing_sink(session, identifier, table, partition)]).job
    assert isinstance(job, StatementJob)
    return job


def replacing_sink(
    session: TableSession, identifier: ObjectIdentifier, table: CatalogMaterializedTable, partition: Mapping[str, str]
) -> Sink:
    """Return the plan that replaces the rows of a table, or those of a partition.

    Raises:
        ValidationError: The connector of the table cannot replace rows, or there is no such partition column.
    """
    check_partition(table, partition)
    context = session.context_of(identifier, table)
    if factories.row_changes(context) is RowChanges.REPLACING:
        return _replacing_table(session, identifier, table, partition)
    query = _selected(session, table, partition, fixed=partition)
    columns = [name for name in _names(session, table) if name not in partition]
    listed = ", ".join(map(escape_identifier, columns))
    where = "" if not partition else f" PARTITION ({', '.join(_equal(partition))})"
    statement = parse(f"INSERT OVERWRITE {identifier}{where} ({listed})\n{query}")
    assert isinstance(statement, nodes.Insert)
    return replace(plan_insert(session, statement), replaces_all=not partition)


def _replacing_table(
    session: TableSession, identifier: ObjectIdentifier, table: CatalogMaterializedTable, partition: Mapping[str, str]
) -> Sink:
    """Return the plan for a connector that takes all rows that the table has afterwards, at once."""
    # The sink is made before the source: it knows a version of the table that is not newer than what is read.
    session.sink(identifier, table, SinkTarget(change=RowChange()))
    names = _names(session, table)
    text = _selected(session, table, partition)
    if partition:
        listed = ", ".join(map(escape_identifier, names))
        others = " OR ".join(f"{each} IS NOT TRUE" for each in map("({})".format, _equal(partition)))
        text = f"SELECT {listed} FROM {identifier} WHERE {others}\nUNION ALL\n{text}"
    query = parse(text)
    assert isinstance(query, nodes.Query)
    sink = converted(session, plan_query(session, query), identifier, table, names, {}, overwrite=False)
    return replace(sink, row_change=(), table=ContextResolvedTable(identifier, table))


def _names(session: TableSession, table: CatalogMaterializedTable) -> list[str]:
    return list(result_names(session, table.expanded_query))


def _selected(
    session: TableSession,
    table: CatalogMaterializedTable,
    partition: Mapping[str, str],
    fixed: Mapping[str, str] | None = None,
) -> str:
    """Return the query of the rows of a partition, without the columns that are fixed elsewhere."""
    if not partition:
        return table.expanded_query
    names = [name for name in _names(session, table) if name not in (fixed or {})]
    where = " AND ".join(_equal(partition))
    return f"SELECT {', '.join(map(escape_identifier, names))} FROM (\n{table.expanded_query}\n) WHERE {where}"


def _equal(partition: Mapping[str, str]) -> list[str]:
    return [f"{escape_identifier(name)} = {escape_text(value)}" for name, value in partition.items()]


def refresh_text(name: str, partition: Mapping[str, str]) -> str:
    """Return the statement that refreshes a table, or a partition.

    Args:
        name: The name of the table, as SQL has it.
        partition: The values of partition columns; empty for the whole table.
    """
    values = ", ".join(f"{escape_identifier(key)} = {escape_text(value)}" for key, value in partition.items())
    return f"ALTER MATERIALIZED TABLE {name} REFRESH{f' PARTITION ({values})' if values else ''}"


def check_partition(table: CatalogMaterializedTable, partition: Mapping[str, str]) -> None:
    """Refuse a partition that a refresh cannot be limited to.

    Raises:
        ValidationError: A column is no partition column, or no text.
    """
    from scurry.sql.types import CharType, VarCharType

    types = {column.name: column.data_type for column in table.schema.get_columns()}
    _refuse_unknown([name for name in partition if name not in types], table)
    others = [name for name in partition if not isinstance(types[name], CharType | VarCharType)]
    if others:
        raise ValidationError(
            "Currently, refreshing materialized table only supports referring to char, varchar and string type "
            "partition keys. All specified partition keys in partition specs with unsupported types are:\n\n"
            + "\n".join(others)
        )
    # Flink takes other columns, and replaces partitions by some of their rows.
    _refuse_unknown([name for name in partition if name not in table.partition_keys], table)


def _refuse_unknown(names: Sequence[str], table: CatalogMaterializedTable) -> None:
    if names:
        raise ValidationError(
            "The partition spec contains unknown partition keys:\n\n"
            + "\n".join(names)
            + "\n\nAll known partition keys are:\n\n"
            + "\n".join(table.partition_keys)
        )
