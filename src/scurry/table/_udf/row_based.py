"""Row-based operations of tables: results of `map`, `flat_map`, `aggregate` and `flat_aggregate`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scurry.common._api import ApiObject
from scurry.errors import ArgumentError, ValidationError
from scurry.sql.functions.user.definition import UserFunction
from scurry.sql.types import DataType, RowField, RowType
from scurry.sql.types.families import without_time_attribute
from scurry.table._udf.declared import Aliased, DeclaredFunction
from scurry.table.expression import Expression

if TYPE_CHECKING:
    from scurry.table._grouped_tables import GroupedTable, WindowGroupedTable
    from scurry.table._table.base import TableBase
    from scurry.table.table import Table

#: The column that has the results of a function until its fields are columns.
_RESULT = "*result*"


class AggregatedTable(ApiObject):
    """A grouped table with an aggregate function; `select` chooses columns of the results."""

    def __init__(self, groups: GroupedTable | WindowGroupedTable, function: Any) -> None:
        self._groups = groups
        self._function = function

    def select(self, *fields: Any) -> Table:
        """Return a row for each group.

        Args:
            *fields: Expressions over the keys, the columns of the results, and `start`, `end`, `rowtime` and `proctime`
                of the window's alias, if there is a window.

        Raises:
            ValidationError: It is no aggregate function, or a column is not there.
        """
        from scurry.table._operations.windows import properties_as_columns
        from scurry.table.expressions import col

        table, groups = self._groups._table, self._groups
        call, names = _call(table, self._function)
        function = _function_of(call, table)
        if function.kind != "aggregate":
            raise ValidationError("Only an aggregate function can be used in the aggregate operator.")
        window = getattr(groups, "_window", None)
        given = table._expressions(fields)
        _refuse_aggregates(table, given)
        chosen, properties = properties_as_columns(given, None if window is None else window._alias)
        keys = [col(each._names[0]) if each._names else each for each in groups._keys]
        results = groups.select(*keys, *properties, call.alias(_RESULT))
        return _flattened(results, names or _generated(function.result_type)).select(*chosen)


class FlatAggregateTable(ApiObject):
    """A table with a table aggregate function for all rows or for groups; `select` chooses columns of the results."""

    def __init__(self, table: Table, keys: Sequence[Expression], function: Any) -> None:
        self._table = table
        self._keys = keys
        self._function = function

    def select(self, *fields: Any) -> Table:
        """Return the rows of each group.

        Args:
            *fields: Expressions over the keys and the columns of the results.

        Raises:
            ValidationError: It is no table aggregate function, or a column is not there.
        """
        from scurry.sql.syntax import nodes
        from scurry.table._operations.fields import operation
        from scurry.table.expressions import col

        _refuse_aggregates(self._table, self._table._expressions(fields))
        call, names = _call(self._table, self._function)
        function = _function_of(call, self._table)
        if function.kind != "table aggregate":
            raise ValidationError("Only a table aggregate function can be used in the flatAggregate operator.")
        _renamed([name for name, _ in function.columns], names)
        # A key may be an expression with an alias: it is a column first.
        named = [each for each in self._keys if each._names]
        table = self._table.add_columns(*named) if named else self._table
        keys = [col(each._names[0]) if each._names else each for each in self._keys]
        made = operation(table._session, [*keys, call])
        assert isinstance(call._node, nodes.Call), "the function of an expression is known by its call"
        plan = made.table_aggregate(table._plan, [each._node for each in keys], call._node, names)
        return table._made(plan).select(*fields)


def _refuse_aggregates(table: Table, fields: Sequence[Expression]) -> None:
    from scurry.table._operations.fields import operation

    made = operation(table._session, fields)
    if any(made.has_aggregates(each._node) for each in fields):
        raise ValidationError(
            "Aggregate functions are not supported in the select right after the aggregate or flatAggregate operation."
        )


def mapped(table: Table, function: Any) -> Table:
    """Return the rows that a scalar function makes of those of a table; the fields of a ROW are columns.

    Names that `alias` gave the function are not used, as in Flink.

    Raises:
        ValidationError: It is no scalar function.
    """
    call, _ = _call(table, function)
    found = _found(call, table)
    has_alias = isinstance(function, Expression) and bool(function._names)
    if has_alias or (found is not None and not found.is_scalar):
        raise ValidationError("Only a scalar function can be used in the map operator.")
    return _flattened(table.select(call.alias(_RESULT)), ())


def flat_mapped(table: Table, function: Any) -> Table:
    """Return the rows that a table function makes of each row of a table.

    Names that `alias` gave the function, and not its call, are not used, as in Flink.

    Raises:
        ValidationError: It is no table function.
    """
    from scurry.sql.plan import builders

    call, names = _call(table, function)
    found = _found(call, table)
    if found is None or found.kind != "table":
        raise ValidationError("Only a table function can be used in the flatMap operator.")
    own = [name for name, _ in found.columns]
    joined = table.join_lateral(call.alias(*(f"*{name}*" for name in own)))._plan
    added = [builders.column(joined, place) for place in range(len(table._plan.schema), len(joined.schema))]
    return table._made(builders.project(joined, added, _renamed(own, () if isinstance(function, Aliased) else names)))


def lateral_call(table: TableBase, function: Any) -> Any:
    """Return the call that a lateral join is about: a function with an alias is called on all columns as a row.

    Raises:
        ArgumentError: It is a function without an alias.
    """
    if isinstance(function, DeclaredFunction):
        raise ArgumentError(
            'table_function_call must be followed by a alias function, e.g. table_function.alias("a", "b")'
        )
    if not isinstance(function, Aliased):
        return function
    call, names = _call(table, function)
    return call.alias(*names)


def _call(table: TableBase, function: Any) -> tuple[Expression, tuple[str, ...]]:
    """Return the call of a function, on all columns as a row unless arguments are given; and names of its columns."""
    if isinstance(function, Expression):
        return Expression(function._node, function._functions), function._names
    names: tuple[str, ...] = ()
    if isinstance(function, Aliased):
        function, names = function._function, function._alias_names
    if not isinstance(function, DeclaredFunction):
        raise ValidationError(f"expected a function or the call of one, got {function!r}")
    return function._of_rows()(_whole_row(table)), names


def _whole_row(table: TableBase) -> Expression:
    """Return all columns of a table as one row, whose fields have their names."""
    from scurry.table.expressions import col, row

    fields = [RowField(column.name, without_time_attribute(column.type).nullable()) for column in table._plan.schema]
    return row(*(col(each.name) for each in fields)).cast(RowType(fields))


def _generated(result_type: DataType) -> list[str]:
    """Return the names that Flink gives the results of an aggregate function without an alias."""
    return [f"TMP_0${name}" for name in result_type.field_names()] if isinstance(result_type, RowType) else ["TMP_0"]


def _flattened(table: Table, names: Sequence[str]) -> Table:
    """Return a table whose last column is taken apart: the fields of a row are columns, with other names if given."""
    from scurry.table.expressions import col

    kept, result = table._plan.schema.columns[:-1], table._plan.schema.columns[-1]
    if isinstance(result.type, RowType):
        own = result.type.field_names()
        fields = [col(result.name).get(name) for name in own]
    else:
        own, fields = ["f0"], [col(result.name)]
    named = [field.alias(name) for field, name in zip(fields, _renamed(own, names), strict=True)]
    return table.select(*(col(each.name) for each in kept), *named)


def _renamed(own: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return names for columns: the given ones, or their own.

    Raises:
        ValidationError: There are not as many names as columns.
    """
    if names and len(names) != len(own):
        raise ValidationError(
            "List of column aliases must have same degree as table; the function returns "
            f"{len(own)} columns ({', '.join(own)}), whereas alias list has {len(names)} columns"
        )
    return list(names or own)


def _function_of(call: Expression, table: TableBase) -> UserFunction:
    """Return the function that a call calls.

    Raises:
        ValidationError: It is no call of a function of a user.
    """
    found = _found(call, table)
    if found is None:
        raise ValidationError(f"expected the call of a function that udaf() or udtaf() declares, got {call}")
    return found


def _found(call: Expression, table: TableBase) -> UserFunction | None:
    """Return the function of a user that a call calls, of the program or registered; None if it calls none."""
    from scurry.sql.syntax import nodes
    from scurry.table._operations.fields import operation

    node = call._node
    return operation(table._session, [call]).user_function(node) if isinstance(node, nodes.Call) else None
