"""Functions that return tables: UNNEST and user functions."""

from __future__ import annotations

from scurry.errors import ValidationError
from scurry.errors.suggestions import did_you_mean
from scurry.sql.functions.catalogue import lookup
from scurry.sql.functions.signatures import standard_name
from scurry.sql.plan.calls import no_match
from scurry.sql.plan.expressions import Expression
from scurry.sql.plan.schema import Column, Schema
from scurry.sql.syntax import nodes
from scurry.sql.types import ArrayType, DataType, IntType, MapType, MultisetType, RowType
from scurry.sql.validator.expressions import ExpressionValidator
from scurry.sql.validator.failures import invalid
from scurry.sql.validator.functions.user_functions import called_function, ordered_arguments, user_call


def unnested_columns(table: nodes.Unnest, validator: ExpressionValidator) -> tuple[Expression, Schema]:
    """Return the collection that UNNEST takes apart, and the columns of its elements.

    Raises:
        ValidationError: It is no collection.
    """
    if len(table.collections) != 1:
        raise invalid(table.span, "UNNEST takes one collection")
    collection = validator.convert(table.collections[0])
    columns = _element_columns(collection.type)
    if columns is None:
        raise invalid(
            table.span,
            f"Cannot apply 'UNNEST' to arguments of type 'UNNEST(<{standard_name(collection.type)}>)'. "
            "Supported form(s): 'UNNEST(<MULTISET>)'",
        )
    if table.with_ordinality:
        columns.append(Column("ORDINALITY", IntType(False)))
    return collection, Schema(tuple(columns))


def _element_columns(type: DataType) -> list[Column] | None:
    if isinstance(type, MapType):
        return [Column("KEY", type.key_type), Column("VALUE", type.value_type)]
    if not isinstance(type, ArrayType | MultisetType):
        return None
    element = type.element_type
    if not isinstance(element, RowType):
        return [Column("EXPR$0", element)]
    # A row that is NULL has NULL in all of its columns.
    fields = zip(element.names, element.field_types(), strict=True)
    return [Column(name, each.nullable() if element.is_nullable else each) for name, each in fields]


def table_function(call: nodes.Call, validator: ExpressionValidator) -> tuple[Expression, Schema]:
    """Return the call of a table function, and the columns of its rows.

    Raises:
        ValidationError: There is no such function.
    """
    function = called_function(call.name, validator.environment)
    if function is None:
        _check_arguments(call, validator)
    given = (
        call.arguments if function is None else ordered_arguments(function, str(call.name), call.arguments, call.span)
    )
    arguments = [validator.convert(each) for each in given if isinstance(each, nodes.Expression)]
    if function is None and lookup(str(call.name)) is None:
        raise no_match(str(call.name), arguments, call.span)
    if function is None or function.kind != "table":
        error = ValidationError(f"SQL validation failed. Function '{call.name}' cannot be used as a table function.")
        error.span = call.span
        raise error
    columns = tuple(Column(name, data_type) for name, data_type in function.columns)
    return user_call(function, call.name.last, arguments, validator.environment, call.span), Schema(columns)


def _check_arguments(call: nodes.Call, validator: ExpressionValidator) -> None:
    """Refuse arguments that only user-defined functions accept: tables, models, and names of arguments.

    Raises:
        ValidationError: There is such an argument.
    """
    name = str(call.name)
    values = [each.value if isinstance(each, nodes.NamedArgument) else each for each in call.arguments]
    if any(isinstance(each, nodes.TableArgument | nodes.Subquery) for each in values):
        raise invalid(call.name.span, f"There is no process table function '{name}'").with_hint(
            did_you_mean(name, ("CUMULATE", "HOP", "SESSION", "TUMBLE"))
        )
    if any(isinstance(each, nodes.NamedArgument) for each in call.arguments):
        raise validator.no_named_arguments(call)
