"""VECTOR_SEARCH in FROM: `VECTOR_SEARCH(TABLE t, DESCRIPTOR(column), vector, 10, MAP['async', 'true'])`."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NoReturn

from scurry.errors import UnsupportedError, ValidationError
from scurry.errors.suggestions import did_you_mean
from scurry.sql.functions.signatures import standard_name
from scurry.sql.plan import calls
from scurry.sql.plan.expressions import Expression, InputReference
from scurry.sql.plan.models import VectorSearch, scan_below
from scurry.sql.plan.nodes import Filter, Plan, Project
from scurry.sql.plan.schema import Column, Schema
from scurry.sql.planner.explain.types import record_text
from scurry.sql.syntax import nodes
from scurry.sql.syntax.unparse import unparse
from scurry.sql.types import ArrayType, CharType, DataType, DoubleType, FloatType, IntType, MapType, VarCharType
from scurry.sql.types.cast_rules import supports_implicit_cast
from scurry.sql.validator.expressions import ExpressionValidator
from scurry.sql.validator.failures import invalid
from scurry.sql.validator.from_clause.window_tables import FromItemOf, argument_table

_PARAMETERS = ("SEARCH_TABLE", "COLUMN_TO_SEARCH", "COLUMN_TO_QUERY", "TOP_K", "CONFIG")
_FORM = (
    "VECTOR_SEARCH(TABLE search_table, DESCRIPTOR(column_to_search), column_to_query, top_k, "
    "[MAP['key1', 'value1']...])"
)
_SEARCHED = (FloatType, DoubleType)


def is_vector_search(call: nodes.Call) -> bool:
    return call.name.is_simple and call.name.last.upper() == "VECTOR_SEARCH"


def searched(call: nodes.Call, left: Plan, validator: ExpressionValidator, item: FromItemOf) -> VectorSearch:
    """Return the plan of a call of VECTOR_SEARCH for the rows of another plan.

    Args:
        validator: Validates expressions over them.
        item: Validates the table among the arguments.

    Raises:
        ValidationError: The arguments are wrong.
        UnsupportedError: What is searched is no table.
    """
    given = _given(call)
    table, descriptor = given["SEARCH_TABLE"], given["COLUMN_TO_SEARCH"]
    if isinstance(table, nodes.Subquery):
        table = nodes.TableArgument(span=table.span, table=table.query)
    plan = argument_table(table, validator.environment, item) if isinstance(table, nodes.TableArgument) else None
    for name in ("COLUMN_TO_QUERY", "TOP_K"):
        if isinstance(given[name], nodes.NullLiteral):
            raise invalid(given[name].span, "Illegal use of 'NULL'")
    if plan is None or not isinstance(descriptor, nodes.Descriptor) or _is_no_value(given["COLUMN_TO_QUERY"]):
        raise _no_match(call, plan, given, validator)
    assert isinstance(table, nodes.TableArgument)
    if table.partition_by or table.order_by:
        raise invalid(call.span, "VECTOR_SEARCH takes a table without PARTITION BY and ORDER BY")
    column = _column(descriptor, plan)
    query = _query(validator.convert(given["COLUMN_TO_QUERY"]), plan.schema[column].type, validator)
    top_k = _top_k(given["TOP_K"], validator)
    config = None if "CONFIG" not in given else _config(given["CONFIG"], validator)
    _check_searchable(plan, column)
    score = _unused("score", plan.schema.names)
    added = Schema((*plan.schema.columns, Column(score, DoubleType(False))))
    return VectorSearch(left, plan, column, query, top_k, config, added)


def _is_no_value(argument: nodes.Expression) -> bool:
    return isinstance(argument, nodes.TableArgument | nodes.Descriptor)


def _given(call: nodes.Call) -> dict[str, nodes.Expression]:
    """Return the arguments by name."""
    found: dict[str, nodes.Expression] = {}
    hint = ""
    for place, argument in enumerate(call.arguments):
        if isinstance(argument, nodes.NamedArgument):
            name, value = argument.name.last.upper(), argument.value
            hint = hint or ("" if name in _PARAMETERS else did_you_mean(name, _PARAMETERS))
        else:
            name, value = (_PARAMETERS[place] if place < len(_PARAMETERS) else str(place)), argument
        if not isinstance(value, nodes.Default):
            found[name] = value
    if not set(_PARAMETERS[:4]) <= found.keys() <= set(_PARAMETERS):
        raise invalid(
            call.span, "Invalid number of arguments to function 'VECTOR_SEARCH'. Was expecting 4 arguments"
        ).with_hint(hint or f"write {_FORM}")
    return found


def _no_match(
    call: nodes.Call, plan: Plan | None, given: dict[str, nodes.Expression], validator: ExpressionValidator
) -> ValidationError:
    shown = []
    for name in _PARAMETERS:
        value = given.get(name)
        if isinstance(value, nodes.TableArgument | nodes.Subquery):
            shown.append("TABLE" if plan is None else record_text(plan.schema).upper())
        elif isinstance(value, nodes.Descriptor):
            shown.append("COLUMN_LIST")
        elif value is not None:
            shown.append(standard_name(validator.convert(value).type))
    listed = ", ".join(f"<{each}>" for each in shown)
    return invalid(
        call.span,
        f"Cannot apply 'VECTOR_SEARCH' to arguments of type 'VECTOR_SEARCH({listed})'. Supported form(s): {_FORM}",
    )


def _column(descriptor: nodes.Descriptor, plan: Plan) -> int:
    names = plan.schema.names
    if len(descriptor.columns) != 1:
        listed = ", ".join(f"`{each}`" for each in descriptor.columns)
        _refuse(
            descriptor,
            "Expect parameter COLUMN_TO_SEARCH for VECTOR_SEARCH only contains one column, but multiple columns are "
            f"found in operand DESCRIPTOR({listed}).",
        )
    column = descriptor.columns[0]
    if not column.is_simple:
        raise invalid(column.span, "Table or column alias must be a simple identifier")
    if column.last not in names:
        raise invalid(column.span, f"Unknown identifier '{column.last}'").with_hint(did_you_mean(column.last, names))
    place = names.index(column.last)
    found = plan.schema[place].type
    if not isinstance(found, ArrayType) or not isinstance(found.element_type, _SEARCHED):
        _refuse(
            descriptor,
            f"Expect search column `{column.last}` type is ARRAY<FLOAT> or ARRAY<DOUBLE>, but its type is "
            f"{found.as_summary_string()}.",
        )
    return place


def _query(query: Expression, wanted: DataType, validator: ExpressionValidator) -> Expression:
    # A vector may be NULL, and is near to nothing then, whatever the table says of its own.
    assert isinstance(wanted, ArrayType)
    target = ArrayType(wanted.element_type.nullable())
    if not supports_implicit_cast(query.type, target):
        error = ValidationError(
            f"SQL validation failed. Can not cast the query column type {query.type.as_summary_string()} to target "
            f"type {standard_name(target)}. Please keep the query column type is same to the search column type."
        )
        raise error.with_hint(f"CAST it AS {target.as_summary_string()}")
    return calls.converted(query, target, validator.environment.session)


def _top_k(given: nodes.Expression, validator: ExpressionValidator) -> int:
    value = int(given.text) if isinstance(given, nodes.NumericLiteral) and given.text.lstrip("-").isdigit() else None
    found = validator.convert(given)
    if value is None or not isinstance(found.type, IntType):
        _refuse(
            given,
            "Expect parameter top_k is an INTEGER NOT NULL literal in VECTOR_SEARCH, but it is "
            f"{unparse(given).replace('`', '')} with type {found.type.as_summary_string()}.",
        )
    if value <= 0:
        _refuse(given, f"Parameter top_k must be greater than 0, but was {value}.")
    return value


def _config(given: nodes.Expression, validator: ExpressionValidator) -> tuple[tuple[str, str], ...]:
    place = given.span.describe().partition(" to ")[0].replace("From", "").replace("At", "").strip()
    found = validator.convert(given).type
    if not isinstance(found, MapType):
        _refuse(given, "Config param should be a MAP.", "write MAP['async', 'true']")
    values = given.values if isinstance(given, nodes.MapConstructor) else ()
    if not all(isinstance(each, CharType | VarCharType) for each in (found.key_type, found.value_type)):
        _refuse(
            given,
            f"Config param can only be a MAP of string literals but node's type is {standard_name(found)} at position "
            f"{place}.",
            "write the values as texts: MAP['async', 'true']",
        )
    for each in values or (given,):
        if not isinstance(each, nodes.StringLiteral):
            place = each.span.describe().partition(" to ")[0].replace("From", "").replace("At", "").strip()
            _refuse(
                each,
                f"Unsupported expression {unparse(each).replace('`', '')} is in runtime config at position {place}. "
                "Currently, runtime config should be be a MAP of string literals.",
            )
    texts = [each.value for each in values if isinstance(each, nodes.StringLiteral)]
    return tuple(zip(texts[::2], texts[1::2], strict=True))


def _check_searchable(plan: Plan, column: int) -> None:
    """Refuse all but a table and columns of one.

    Raises:
        UnsupportedError: Rows of the table are left out, or changed, before they are searched.
    """
    if scan_below(plan) is None:
        below = plan
        while isinstance(below, Project):
            below = below.input
        if isinstance(below, Filter):
            raise UnsupportedError("VECTOR_SEARCH does not support filter on parameter search_table.").with_hint(
                "filter what it returns, or search a table that has only these rows"
            )
        raise UnsupportedError("VECTOR_SEARCH searches a table, and no other query").with_hint(
            "write the rows of the query into a table, and search that"
        )
    while isinstance(plan, Project):
        expression = plan.expressions[column]
        if not isinstance(expression, InputReference):
            raise UnsupportedError("VECTOR_SEARCH searches a column of the table, and none that is computed").with_hint(
                "write the vectors into a table"
            )
        plan, column = plan.input, expression.index


def _unused(name: str, names: Sequence[str]) -> str:
    """Return a name that no column has: with a number, if it has to be another one."""
    numbered = (f"{name}{number}" for number in itertools.count())
    return name if name not in names else next(each for each in numbered if each not in names)


def _refuse(part: nodes.Expression, message: str, hint: str = "") -> NoReturn:
    error = ValidationError(f"SQL validation failed. {message}")
    error.span = part.span
    raise error.with_hint(hint)
