"""Process table functions in FROM: `f(TABLE t PARTITION BY k, on_time => DESCRIPTOR(ts))`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from scurry.errors import ValidationError
from scurry.sql.functions.user.definition import UserFunction
from scurry.sql.functions.user.process import ArgumentTrait, DeclaredArgument, ProcessSignature
from scurry.sql.plan import builders, calls
from scurry.sql.plan.expressions import Expression, Literal
from scurry.sql.plan.nodes import Plan
from scurry.sql.plan.process_tables import ProcessTableFunction, TableInput
from scurry.sql.plan.schema import Column, Schema
from scurry.sql.syntax import nodes
from scurry.sql.types import DataType, LocalZonedTimestampType, RowType, TimestampType
from scurry.sql.types.cast_rules import supports_implicit_cast
from scurry.sql.validator.environment import Environment
from scurry.sql.validator.expressions import ExpressionValidator
from scurry.sql.validator.failures import invalid
from scurry.sql.validator.from_clause.window_tables import FromItemOf, argument_table
from scurry.sql.validator.functions.user_functions import called_function
from scurry.sql.validator.scope import Scope

_ON_TIME, _UID = "on_time", "uid"
_IDENTIFIER = re.compile(r"[a-zA-Z_][a-zA-Z\-_0-9]*")


def process_function(call: nodes.Call, environment: Environment) -> UserFunction | None:
    """Return the process table function that is called, None if another function is."""
    found = called_function(call.name, environment)
    return found if found is not None and found.kind == "process table" else None


def process_table(call: nodes.Call, function: UserFunction, environment: Environment, item: FromItemOf) -> Plan:
    """Return the plan of a call.

    Args:
        environment: Where the call stands.
        item: Validates the tables among the arguments.

    Raises:
        ValidationError: The arguments are wrong.
    """
    signature = function.signature
    assert signature is not None, "process table functions have a signature"
    given = _given(call, signature)
    times = names_of(call, given.get(_ON_TIME))
    sources, tables = [], []
    for argument in signature.tables:
        plan, table = _table(call, signature, argument, given.get(argument.name), environment, item, times)
        sources.append(plan)
        tables.append(table)
    _check_times(sources, tables, times)
    _check_partitions(sources, tables)
    validator = ExpressionValidator(Scope(Schema(), ()), environment)
    scalars = tuple(_scalar(call, each, given.get(each.name), validator) for each in signature.scalars)
    uid = identifier_of(given[_UID], validator) if _UID in given else call.name.last
    output = Schema(
        tuple(_unique([*_passed(sources, tables), *_own(function), *rowtime_of(_time_types(sources, tables))]))
    )
    found = tuple(sources) or (builders.one_row(),)
    return ProcessTableFunction(found, tuple(tables), function, scalars, uid, output)


def _given(call: nodes.Call, signature: ProcessSignature) -> dict[str, nodes.Expression]:
    """Return the arguments by name, without those that are DEFAULT."""
    names = [*(each.name for each in signature.arguments), _ON_TIME, _UID]
    found: dict[str, nodes.Expression] = {}
    for place, argument in enumerate(call.arguments):
        if isinstance(argument, nodes.NamedArgument):
            name, value = argument.name.last, argument.value
        elif place < len(names):
            name, value = names[place], argument
        else:
            name, value = "", argument
        if name not in names or name in found:
            raise invalid(
                argument.span,
                f"Function '{call.name}' does not take this argument; its arguments are: {', '.join(names)}",
            )
        found[name] = value
    return {name: value for name, value in found.items() if not isinstance(value, nodes.Default)}


def _table(
    call: nodes.Call,
    signature: ProcessSignature,
    argument: DeclaredArgument,
    given: nodes.Expression | None,
    environment: Environment,
    item: FromItemOf,
    times: Sequence[str],
) -> tuple[Plan, TableInput]:
    if isinstance(given, nodes.Subquery):
        given = nodes.TableArgument(span=given.span, table=given.query)
    if not isinstance(given, nodes.TableArgument):
        raise invalid(call.span if given is None else given.span, f"Table expected for argument '{argument.name}'.")
    keys = given.partition_by or ()
    if not argument.is_set and (keys or given.order_by):
        verb, clause = ("partitioned", "PARTITION BY") if keys else ("ordered", "ORDER BY")
        place = [each.name for each in signature.arguments].index(argument.name)
        raise invalid(
            call.span,
            f"Only tables with set semantics may be {verb}. Invalid {clause} clause in the {place}-th operand of "
            f"table function '{call.name}'",
        )
    if given.order_by:
        raise invalid(given.span, "ORDER BY is not supported for table arguments of process table functions.")
    if argument.is_set and not keys and ArgumentTrait.OPTIONAL_PARTITION_BY not in argument.traits:
        raise invalid(
            given.span,
            f"Table argument '{argument.name}' requires a PARTITION BY clause for parallel processing.",
        )
    plan = argument_table(given, environment, item)
    positions = tuple(_position(each, plan) for each in keys)
    time = time_of(argument, plan.schema, times)
    return plan, TableInput(
        argument.name,
        argument.is_set,
        positions,
        time,
        passes_through=ArgumentTrait.PASS_COLUMNS_THROUGH in argument.traits,
        takes_updates=ArgumentTrait.SUPPORT_UPDATES in argument.traits,
        needs_before=ArgumentTrait.REQUIRE_UPDATE_BEFORE in argument.traits,
    )


def _position(column: nodes.Expression, plan: Plan) -> int:
    name = column.last if isinstance(column, nodes.Identifier) else column.span.source
    if name not in plan.schema.names:
        known = ", ".join(plan.schema.names)
        raise invalid(column.span, f"Invalid column '{name}' for PARTITION BY clause. Available columns are: [{known}]")
    return plan.schema.names.index(name)


def names_of(call: nodes.Call, given: nodes.Expression | None) -> list[str]:
    """Return the columns that `on_time` names."""
    if given is None:
        return []
    if not isinstance(given, nodes.Descriptor):
        raise invalid(given.span, f"The `on_time` argument of '{call.name}' is a DESCRIPTOR of columns")
    return [each.last for each in given.columns]


def time_of(argument: DeclaredArgument, schema: Schema, times: Sequence[str]) -> int | None:
    """Return the position of the time attribute of a table, None without one."""
    found = [place for place, name in enumerate(schema.names) if name in times]
    if len(found) > 1:
        one, other = (schema.names[place] for place in found[:2])
        raise ValidationError(
            "Ambiguous time attribute found. The `on_time` argument must reference at most one column in a table "
            f"argument. Currently, the columns in `on_time` point to both '{one}' and '{other}' in table argument "
            f"'{argument.name}'."
        )
    for place in found:
        data_type = schema[place].type
        if not isinstance(data_type, TimestampType | LocalZonedTimestampType) or data_type.precision > 3:
            raise ValidationError(
                "Unsupported data type for time attribute. The `on_time` argument must reference a TIMESTAMP or "
                f"TIMESTAMP_LTZ column (up to precision 3). However, column '{schema.names[place]}' in table argument "
                f"'{argument.name}' has data type '{data_type.as_summary_string()}'."
            )
    if not found and ArgumentTrait.REQUIRE_ON_TIME in argument.traits:
        raise ValidationError(
            f"Table argument '{argument.name}' requires a time attribute. Please provide one using the implicit "
            "`on_time` argument. For example: myFunction(..., on_time => DESCRIPTOR(`my_timestamp`)"
        )
    return found[0] if found else None


def _check_times(sources: Sequence[Plan], tables: Sequence[TableInput], times: Sequence[str]) -> None:
    missing = [each.name for each in tables if each.time is None]
    if times and len(missing) < len(tables) and missing:
        raise ValidationError(
            "Invalid time attribute declaration. If multiple tables are declared, the `on_time` argument must "
            "reference a time column for each table argument or none. Missing time attributes for: "
            f"[{', '.join(missing)}]"
        )
    known = {name for each in sources for name in each.schema.names}
    unknown = [each for each in times if each not in known]
    if unknown:
        raise ValidationError(
            "Invalid time attribute declaration. Each column in the `on_time` argument must reference at least one "
            f"column in one of the table arguments. Unknown references: [{', '.join(unknown)}]"
        )
    kinds = {type(data_type) for data_type in _time_types(sources, tables)}
    if len(kinds) > 1:
        raise ValidationError(
            "Invalid time attribute declaration. All columns in the `on_time` argument must reference the same data "
            "type kind. But found: [TIMESTAMP_WITHOUT_TIME_ZONE, TIMESTAMP_WITH_LOCAL_TIME_ZONE]"
        )


def _check_partitions(sources: Sequence[Plan], tables: Sequence[TableInput]) -> None:
    keys = [
        [plan.schema[place].type for place in table.partition_by] for plan, table in zip(sources, tables, strict=True)
    ]
    if len({tuple(each.nullable() for each in key) for key in keys}) > 1:
        shown = ", ".join(f"[{', '.join(each.as_summary_string() for each in key)}]" for key in keys)
        raise ValidationError(
            "Invalid PARTITION BY columns. The number of columns and their data types must match across all involved "
            f"table arguments. Given partition key sets: {shown}"
        )


def _scalar(
    call: nodes.Call, argument: DeclaredArgument, given: nodes.Expression | None, validator: ExpressionValidator
) -> Expression:
    if given is None:
        if not argument.is_optional:
            raise invalid(call.span, f"Function '{call.name}' needs an argument '{argument.name}'")
        return validator.convert(nodes.NullLiteral(span=call.span))
    value = validator.convert(given)
    wanted = argument.data_type
    if wanted is None:
        return value
    if not supports_implicit_cast(value.type, wanted):
        raise invalid(
            given.span,
            f"Argument '{argument.name}' of function '{call.name}': data type {wanted.as_summary_string()} expected "
            f"but {value.type.as_summary_string()} passed.",
        )
    return calls.converted(value, wanted, validator.environment.session)


def identifier_of(given: nodes.Expression, validator: ExpressionValidator) -> str:
    """Return the identifier that `uid` is.

    Raises:
        ValidationError: It is none.
    """
    value = validator.convert(given)
    found = value.value if isinstance(value, Literal) else ""
    if not isinstance(found, str) or not _IDENTIFIER.fullmatch(found):
        raise invalid(
            given.span,
            "Invalid unique identifier for process table function. The `uid` argument must be a string literal that "
            f"follows the pattern [a-zA-Z_][a-zA-Z-_0-9]*. But found: {found}",
        )
    return found


def _passed(sources: Sequence[Plan], tables: Sequence[TableInput]) -> Iterator[Column]:
    for plan, table in zip(sources, tables, strict=True):
        yield from plan.schema if table.passes_through else plan.schema.select(table.partition_by)


def _own(function: UserFunction) -> Iterator[Column]:
    if not isinstance(function.result_type, RowType):
        yield Column("EXPR$0", function.result_type)
        return
    for name, data_type in function.columns:
        yield Column(name, data_type)


def _time_types(sources: Sequence[Plan], tables: Sequence[TableInput]) -> list[DataType]:
    return [plan.schema[table.time].type for plan, table in zip(sources, tables, strict=True) if table.time is not None]


def rowtime_of(types: Sequence[DataType]) -> Iterator[Column]:
    """Yield the column `rowtime` of tables whose columns of time have some types, if there are any."""
    if types:
        chosen = max(types, key=lambda each: (getattr(each, "is_rowtime", False), getattr(each, "precision", 0)))
        yield Column("rowtime", chosen.not_null())


def _unique(columns: Sequence[Column]) -> Iterator[Column]:
    """Give columns of the same name numbers, as Flink does: `k`, `k0`, `k1`."""
    counts: dict[str, int] = {}
    for column in columns:
        count = counts[column.name] = counts.get(column.name, -2) + 1
        yield column if count < 0 else Column(f"{column.name}{count}", column.type)
