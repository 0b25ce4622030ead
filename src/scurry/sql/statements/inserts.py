"""INSERT and statement sets."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from scurry.common._config.tables import DML_SYNC
from scurry.common.config_options import FINAL_SAVEPOINT_DIR
from scurry.common.recursion import deep_recursion
from scurry.errors import ConfigError, UnsupportedError, ValidationError
from scurry.errors.suggestions import did_you_mean
from scurry.sql.catalog.entries import CatalogTable, ContextResolvedTable
from scurry.sql.catalog.identifier import ObjectIdentifier
from scurry.sql.catalog.schema import Column, ResolvedSchema
from scurry.sql.connectors.contract import SinkTarget
from scurry.sql.plan import builders, calls
from scurry.sql.plan.expressions import Expression, Literal
from scurry.sql.plan.nodes import Plan, Sink
from scurry.sql.statements.jobs import StatementJob, run_sinks
from scurry.sql.statements.names import qualified
from scurry.sql.statements.planning import PlannedStatement, planned, sink_with_changes
from scurry.sql.statements.queries import plan_query
from scurry.sql.statements.results import StatementResult
from scurry.sql.statements.session import TableSession
from scurry.sql.syntax import nodes
from scurry.sql.types import BigIntType
from scurry.sql.types.cast_rules import supports_implicit_cast
from scurry.sql.types.families import without_time_attribute
from scurry.sql.validator.failures import invalid


def execute_insert(session: TableSession, statement: nodes.Insert) -> StatementResult:
    """Start the job that writes the rows of a query into a table."""
    session = session.for_insertions().executing(statement)
    return execute_sinks(session, [plan_insert(session, statement)])


def execute_statement_set(session: TableSession, statements: Sequence[nodes.Insert]) -> StatementResult:
    """Start one job for some insertions."""
    session = session.for_insertions().executing(*statements)
    return execute_sinks(session, [plan_insert(session, statement) for statement in statements])


@deep_recursion()
def execute_sinks(session: TableSession, sinks: Sequence[Sink]) -> StatementResult:
    """Start the job that runs some plans.

    Raises:
        ConfigError: It should end in a savepoint, and its plans are of BATCH.
    """
    if session.for_insertions() is not session:
        raise ConfigError(
            f"{FINAL_SAVEPOINT_DIR.key}: only INSERT and EXECUTE STATEMENT SET in execute_sql or a script end in a "
            "savepoint; pipelines of Tables and CREATE TABLE AS do not"
        )
    return started(planned(session, sinks))


def started(statement: PlannedStatement, numbers: Mapping[Plan, int] | None = None) -> StatementResult:
    """Start the job that runs the sinks of a statement.

    Args:
        numbers: What the identities of the operators of each node begin with; None to number them.
    """
    job = run_sinks(statement, numbers)
    if statement.session.get(DML_SYNC):
        job.wait()
    return insert_result(job, [sink.table.identifier for sink in statement.sinks])


def insert_result(job: StatementJob, targets: Sequence[ObjectIdentifier]) -> StatementResult:
    """Return the answer of insertions: -1 for each table, because rows are not counted.

    Flink numbers insertions into one table, then makes one of them: `t_1, u` are the names of those into `t, u, t`.
    """
    texts = [target.as_summary_string() for target in targets]
    numbered = [f"{text}_{texts[:place].count(text) + 1}" for place, text in enumerate(texts)]
    names = [number if texts.count(text) > 1 else text for text, number in zip(texts, numbered, strict=True)]
    names = names[: len(set(texts))]
    schema = ResolvedSchema.physical(names, [BigIntType()] * len(names))
    return StatementResult(schema, iter([(0, (-1,) * len(names))]), job=job)


@deep_recursion()
def plan_insert(session: TableSession, statement: nodes.Insert) -> Sink:
    """Return the plan of an insertion.

    Raises:
        ValidationError: The query, the table or its columns are wrong.
    """
    if statement.upsert:
        raise UnsupportedError("UPSERT INTO is not supported: INSERT INTO a table with a primary key updates by key")
    found, table = target_table(session, qualified(session, statement.table))
    columns = [column for column in table.schema.get_columns() if column.is_persisted()]
    _check_partition_columns(table, statement)
    names = _target_names(statement, columns, {each.column.last for each in statement.partition if each.value})
    plan = plan_query(session, statement.query)
    hints = {
        str(option.key): str(getattr(option.value, "value", option.value))
        for hint in statement.hints
        if hint.name.upper() == "OPTIONS"
        for option in hint.options
    }
    if hints:
        table = CatalogTable(
            table.schema, table.comment, {**table.options, **hints}, table.partition_keys, table.distribution
        )
    if statement.columns and len(plan.schema) != len(names):
        raise invalid(statement.query.span, "Number of columns must match number of query columns")
    given = {each.column.last: each.value for each in statement.partition if each.value is not None}
    target = SinkTarget(statement.overwrite, _partition_texts(given))
    session.sink(found.identifier, table, target)  # reports wrong options before all else
    partition = _partition(found.identifier, table, statement)
    if len(plan.schema) != len(names):
        raise _wrong_columns(found.identifier, plan, names, columns, partition)
    sink = converted(session, plan, found.identifier, table, names, partition, statement.overwrite)
    # in BATCH rows are inserted, so that there is nothing to decide
    return replace(sink, on_conflict=statement.on_conflict if session.is_streaming else None)


def insert_plan(session: TableSession, plan: Plan, identifier: ObjectIdentifier, overwrite: bool) -> Sink:
    """Return the plan that writes the rows of another plan into a table.

    Raises:
        ValidationError: The table does not exist, or its columns do not fit.
    """
    _, table = target_table(session, identifier)
    columns = [column for column in table.schema.get_columns() if column.is_persisted()]
    names = [column.name for column in columns]
    if len(plan.schema) != len(names):
        raise _wrong_columns(identifier, plan, names, columns)
    return converted(session, plan, identifier, table, names, {}, overwrite)


def target_table(session: TableSession, identifier: ObjectIdentifier) -> tuple[ContextResolvedTable, CatalogTable]:
    """Return the table that an insertion writes.

    Raises:
        ValidationError: There is no such table, or it is a view.
    """
    found = session.catalogs.find_table(identifier)
    if found is None:
        catalogs = ", ".join(session.catalogs.list_catalogs())
        error = ValidationError(
            f"Cannot find table '{identifier}' in any of the catalogs [{catalogs}], nor as a temporary table."
        )
        error.about = identifier.name
        raise error.with_hint(
            session.catalogs.similar(identifier.path)
            or "SHOW TABLES lists the tables there are; CREATE TABLE makes one"
        )
    if not isinstance(found.table, CatalogTable):
        raise ValidationError(
            f"Sink '{identifier.as_summary_string()}' does not exists\nIt is a view: only tables can be written"
        )
    return found, found.table


def _check_partition_columns(table: CatalogTable, statement: nodes.Insert) -> None:
    known, seen = table.schema.get_column_names(), set()
    for each in statement.partition:
        name = str(each.column)
        if name not in known:
            raise invalid(each.column.span, f"Unknown target column '{name}'").with_hint(did_you_mean(name, known))
        if name in seen:
            raise invalid(each.column.span, f"Target column '{name}' is assigned more than once")
        seen.add(name)


def _partition(identifier: ObjectIdentifier, table: CatalogTable, statement: nodes.Insert) -> dict[str, Any]:
    """Return the values of PARTITION, by column."""
    found: dict[str, Any] = {}
    for each in statement.partition:
        name = each.column.last
        if name not in table.partition_keys:
            raise ValidationError(
                f"Static partition column '{name}' should be in the partition keys list "
                f"[{', '.join(table.partition_keys)}] for table '{identifier.as_summary_string()}'."
            )
        if each.value is not None:
            found[name] = each.value
    return found


def _target_names(statement: nodes.Insert, columns: Sequence[Column], partition: Collection[str]) -> list[str]:
    known = [column.name for column in columns]
    if not statement.columns:
        return [name for name in known if name not in partition]
    names: list[str] = []
    for column in statement.columns:
        name = str(column)
        if name not in known:
            raise invalid(column.span, f"Unknown target column '{name}'").with_hint(did_you_mean(name, known))
        if name in names:
            raise invalid(column.span, f"Target column '{name}' is assigned more than once")
        names.append(name)
    for each in columns:
        if each.name not in names and each.name not in partition and not each.data_type.is_nullable:
            raise ValidationError(
                "SQL validation failed. At line 0, column 0: "
                f"Column '{each.name}' has no default value and does not allow NULLs"
            )
    return names


def converted(
    session: TableSession,
    plan: Plan,
    identifier: ObjectIdentifier,
    table: CatalogTable,
    names: Sequence[str],
    partition: Mapping[str, Any],
    overwrite: bool,
) -> Sink:
    """Return the sink of a plan, with a column for each that the table stores, in its type.

    Raises:
        ValidationError: A type does not fit, or the table is no sink.
    """
    columns = [column for column in table.schema.get_columns() if column.is_persisted()]
    wrong = [
        (plan.schema[names.index(column.name)].type, column.data_type) for column in columns if column.name in names
    ]
    if not all(supports_implicit_cast(found.nullable(), wanted.nullable()) for found, wanted in wrong):
        raise _wrong_columns(identifier, plan, names, columns)
    expressions = [_value(session, plan, column, names, partition) for column in columns]
    target = SinkTarget(overwrite, _partition_texts(partition))
    session.sink(identifier, table, target)  # reports wrong options before anything runs
    if overwrite and session.is_streaming:
        raise ValidationError("Streaming mode not support overwrite.")
    projected = builders.project(plan, expressions, [column.name for column in columns])
    resolved = ContextResolvedTable(identifier, table)
    sink = Sink(projected, identifier.path, resolved, overwrite, tuple(_partition_texts(partition).items()))
    return sink_with_changes(session, sink, table)


def _value(
    session: TableSession, plan: Plan, column: Column, names: Sequence[str], partition: Mapping[str, Any]
) -> Expression:
    if column.name in names:
        value: Expression = builders.column(plan, names.index(column.name))
        return calls.converted(value, column.data_type.nullable(), session.for_functions())
    if column.name in partition:
        literal = partition[column.name]
        query = nodes.Select((nodes.SelectItem(literal),), span=literal.span)
        constant = _constant(plan_query(session, query))
        return calls.converted(constant, column.data_type.nullable(), session.for_functions())
    return Literal(None, column.data_type.nullable())


def _constant(plan: Plan) -> Expression:
    expressions = getattr(plan, "expressions", None)
    while expressions is not None and not isinstance(expressions[0], Literal):
        plan = plan.inputs[0]
        expressions = getattr(plan, "expressions", None)
    if expressions is None:
        raise ValidationError("the values of PARTITION are literals")
    literal: Expression = expressions[0]
    return literal


def _partition_texts(partition: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(getattr(value, "value", getattr(value, "text", value))) for name, value in partition.items()}


def _wrong_columns(
    identifier: ObjectIdentifier,
    plan: Plan,
    names: Sequence[str],
    columns: Sequence[Column],
    partition: Collection[str] = (),
) -> ValidationError:
    types = {column.name: without_time_attribute(column.data_type) for column in columns}
    queried = [(column.name, column.type) for column in plan.schema]
    shown = [column.name for column in columns if column.name in names or column.name in partition]
    for index, name in enumerate(shown):
        if name in partition:  # Flink adds the values to the query
            queried.insert(index, ("EXPR$", types[name].not_null()))
    numbered = [f"EXPR${i}" if name.startswith("EXPR$") else name for i, (name, _) in enumerate(queried)]
    query = ", ".join(f"{n}: {kind.as_summary_string()}" for n, (_, kind) in zip(numbered, queried, strict=True))
    sink = ", ".join(f"{name}: {types[name].nullable().as_summary_string()}" for name in shown)
    if len(plan.schema) != len(names):
        cause = "Different number of columns."
        hint = (
            f"select a value for each of {', '.join(names)}"
            if len(plan.schema) > len(names)
            else f"name the columns that are written, the others become NULL: INSERT INTO {identifier.name} "
            f"({', '.join(names[: len(plan.schema)])}) ..."
        )
    else:
        place = next(
            index
            for index, name in enumerate(names)
            if not supports_implicit_cast(plan.schema[index].type.nullable(), types[name].nullable())
        )
        cause = f"Incompatible types for sink column '{names[place]}' at position {place + 1}."
        column, wanted = numbered[place], types[names[place]].nullable().as_summary_string()
        value = "..." if column.startswith("EXPR$") else column
        hint = f"CAST({value} AS {wanted}) converts it, TRY_CAST makes NULL of values that do not fit"
    error = ValidationError(
        f"Column types of query result and sink for '{identifier.as_summary_string()}' do not match.\n"
        f"Cause: {cause}\n\nQuery schema: [{query}]\nSink schema:  [{sink}]"
    )
    error.about = identifier.name
    return error.with_hint(hint)
