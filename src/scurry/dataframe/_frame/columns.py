"""Methods that choose, make and name columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from scurry.dataframe._frame.base import FrameBase, column_of
from scurry.errors import ArgumentError, ArgumentTypeError
from scurry.sql.syntax import nodes
from scurry.table.expression import Expression
from scurry.table.expressions import call_sql, col, lit


def with_windows(columns: Sequence[Expression]) -> list[Expression]:
    """Return columns in which `over("ts")` is over the rows up to each one, in the order of the column `ts`.

    Windows of a DataFrame have no aliases, which `over` with one argument names for tables.
    """
    return [each._with_node(nodes.substitute(each._node, _windowed)) for each in columns]


def _windowed(node: nodes.Expression) -> nodes.Expression | None:
    if not isinstance(node, nodes.FunctionCall) or not isinstance(node.over, nodes.Identifier) or node.over.span.text:
        return None
    order = nodes.OrderItem(node.over, False)
    return nodes.replace(node, over=nodes.WindowSpecification(None, (), (order,), None))


_NO_COLUMNS = "columns must be strings, expressions, or lists or tuples of them"


class ColumnMethods(FrameBase, check_arguments=False):
    """Methods that choose, make and name columns."""

    def select(self, *columns: str | Expression | list[Any] | tuple[Any, ...], **projections: Expression) -> Self:
        """Return a DataFrame of other columns.

        Args:
            *columns: Names, expressions, or lists and tuples of them.
            **projections: Further expressions, by the names that they get.

        Raises:
            TypeError: One is something else.
            ValidationError: An expression is wrong.

        Example:
            ```python
            df.select("a", (pf.col("b") + 1).alias("c"), d=pf.col("b") * 2)
            ```
        """
        chosen: list[Expression] = []
        for each in columns:
            for part in each if isinstance(each, list | tuple) else [each]:
                if not isinstance(part, str | Expression):
                    raise ArgumentTypeError(_NO_COLUMNS)
                chosen.append(col(part) if isinstance(part, str) else part)
        for name, projection in projections.items():
            if not isinstance(projection, Expression):
                raise ArgumentTypeError("projections must be expressions")
            chosen.append(projection.alias(name))
        return self._of(self._table.select(*with_windows(chosen)))

    def with_column(self, name: str, expr: Expression | Callable[[Any], Expression]) -> Self:
        """Return the DataFrame with a further column, which replaces one of its name in place.

        Args:
            name: The name of the column.
            expr: Its expression, or a function that makes it of the DataFrame.

        Raises:
            TypeError: The name is no text, or there is no expression.
        """
        if not isinstance(name, str):
            raise ArgumentTypeError("name must be a string")
        found: Any = expr
        if _is_function(expr):
            found = found(self)
        if not isinstance(found, Expression):
            raise ArgumentTypeError("expr must be an Expression")
        return self._of(self._table.add_or_replace_columns(*with_windows([found.alias(name)])))

    def with_columns(self, *exprs: Expression, **named_exprs: Expression) -> Self:
        """Return the DataFrame with further columns, which replace those of their names in place.

        Args:
            *exprs: Expressions with an alias; all see the columns as they were.
            **named_exprs: Further expressions, by the names that they get.

        Raises:
            TypeError: One is no expression.
        """
        if not all(isinstance(each, Expression) for each in exprs):
            raise ArgumentTypeError("exprs must be expressions")
        if not all(isinstance(each, Expression) for each in named_exprs.values()):
            raise ArgumentTypeError("named_exprs must be expressions")
        named = [each.alias(name) for name, each in named_exprs.items()]
        return self._of(self._table.add_or_replace_columns(*with_windows([*exprs, *named])))

    def drop_columns(self, *columns: str | Expression, strict: bool = True) -> Self:
        """Return the DataFrame without some columns; this one if there is nothing to drop.

        Args:
            *columns: The columns.
            strict: Whether all of them have to exist.

        Raises:
            TypeError: One is neither a name nor an expression.
            ValueError: One does not exist.
        """
        if not isinstance(strict, bool):
            raise ArgumentTypeError("strict must be a boolean")
        if not all(isinstance(each, str | Expression) for each in columns):
            raise ArgumentTypeError("columns must be strings or expressions")
        known = self._names if columns else []
        dropped: list[Expression] = []
        for each in columns:
            name = column_of(each)
            if name is None or name in known:
                dropped.append(col(each) if isinstance(each, str) else each)
            elif strict:
                raise ArgumentError(f"Column '{name}' not found in schema")
        return self._of(self._table.drop_columns(*dropped)) if dropped else self

    def rename_columns(self, *args: Any, mapping: Mapping[str, str] | Callable[[str], str] | None = None) -> Self:
        """Return the DataFrame with other names for some columns; this one if no name changes.

        Args:
            *args: A dict of new names by old ones, which need not exist; a function that is applied to all names; or
                old and new names in turn.
            mapping: The dict or the function.

        Raises:
            TypeError: It is none of these, or a name is no text.
            ValueError: It is given in two ways, or an old name has no new one.
        """
        if args and mapping is not None:
            raise ArgumentError("rename_columns() accepts either positional arguments or mapping, not both")
        given: Any = mapping
        if len(args) == 1 and (isinstance(args[0], Mapping) or callable(args[0])):
            given = args[0]
        elif args:
            if len(args) % 2:
                raise ArgumentError("rename_columns() positional arguments must be old/new name pairs")
            if not all(isinstance(each, str) for each in args):
                raise ArgumentTypeError("column names must be strings")
            given = dict(zip(args[::2], args[1::2], strict=True))
        names = self._new_names(given)
        changed = [col(old).alias(new) for old, new in names.items() if old != new]
        return self._of(self._table.rename_columns(*changed)) if changed else self

    def _new_names(self, given: Any) -> dict[str, str]:
        if given is None:
            return {}
        if isinstance(given, Mapping):
            if not all(isinstance(each, str) for pair in given.items() for each in pair):
                raise ArgumentTypeError("mapping keys and values must be strings")
            known = self._names
            return {old: new for old, new in given.items() if old in known}
        if not callable(given):
            raise ArgumentTypeError("mapping must be a dictionary or callable")
        names = {old: given(old) for old in self._names}
        if not all(isinstance(new, str) for new in names.values()):
            raise ArgumentTypeError("rename_columns() callable must return a string")
        return names

    def filter(self, *predicates: Expression | str | Callable[[Any], Expression], **constraints: Any) -> Self:
        """Return the rows for which all conditions are TRUE.

        Args:
            *predicates: Conditions: expressions, texts of SQL, or functions that make one of the DataFrame.
            **constraints: Values by columns that have to be equal to them; None is for NULL.

        Raises:
            TypeError: One is something else.
            ValueError: Nothing is given.

        Example:
            ```python
            df.filter(pf.col("age") >= 18, "name LIKE 'A%'", country="FR")
            ```
        """
        if not predicates and not constraints:
            raise ArgumentError("filter() requires at least one predicate or equality constraint")
        conditions = [self._condition(each) for each in predicates]
        for name, value in constraints.items():
            conditions.append(col(name).is_null if value is None else col(name) == lit(value))
        condition = conditions[0]
        for each in conditions[1:]:
            condition = condition & each
        return self._of(self._table.filter(condition))

    def _condition(self, predicate: Any) -> Expression:
        if isinstance(predicate, str):
            return call_sql(predicate)
        if _is_function(predicate):
            predicate = predicate(self)
            if not isinstance(predicate, Expression):
                raise ArgumentTypeError("filter() callable predicates must return an Expression")
        if not isinstance(predicate, Expression):
            raise ArgumentTypeError("predicate must be an Expression, SQL string, or callable")
        return predicate

    def __getitem__(self, key: Any) -> Any:
        """Return the column of a name; the columns of a list of names; the rows for which an expression is TRUE."""
        if isinstance(key, str):
            return col(key)
        if isinstance(key, list | tuple):
            return self.select(*key)
        if isinstance(key, Expression):
            return self.filter(key)
        raise ArgumentTypeError("key must be a string, list, tuple, or Expression")

    def pipe(self, func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a function with the DataFrame and return its result.

        Args:
            func: The function, whose first argument is the DataFrame.
            *args: Its other arguments.
            **kwargs: Its arguments by name.
        """
        return func(self, *args, **kwargs)

    # ------------------------------------------------------------------ missing values

    def drop_null(self, subset: Sequence[str] | None = None) -> Self:
        """Return the rows that have a value in all of some columns.

        Args:
            subset: The columns; None for all.
        """
        return self._where_all(subset, lambda name: col(name).is_not_null)

    def drop_nan(self, subset: Sequence[str] | None = None) -> Self:
        """Return the rows that have no NaN in any of some columns; NULL is none.

        Args:
            subset: The columns, of FLOAT or DOUBLE; None for all.
        """
        return self._where_all(subset, lambda name: col(name).is_not_nan)

    def fill_null(self, value: Any, subset: Sequence[str] | None = None) -> Self:
        """Return the DataFrame with a value in place of NULL.

        Args:
            value: The value, which is cast to the type of each column.
            subset: The columns; None for all.
        """
        return self._filled(value, subset, lambda column: column.is_null)

    def fill_nan(self, value: Any, subset: Sequence[str] | None = None) -> Self:
        """Return the DataFrame with a value in place of NaN.

        Args:
            value: The value, which is cast to the type of each column.
            subset: The columns, of FLOAT or DOUBLE; None for all.
        """
        return self._filled(value, subset, lambda column: column.is_nan)

    def _where_all(self, subset: Any, condition: Callable[[str], Expression]) -> Self:
        conditions = [condition(name) for name in self._subset(subset)]
        found = conditions[0]
        for each in conditions[1:]:
            found = found & each
        return self._of(self._table.filter(found))

    def _filled(self, value: Any, subset: Any, condition: Callable[[Expression], Expression]) -> Self:
        from scurry.sql.types.families import without_time_attribute
        from scurry.table.expressions import if_then_else

        chosen = self._subset(subset)
        columns = []
        for name, kind in zip(self._names, self._table.get_schema().get_field_data_types(), strict=True):
            column = col(name)
            if name in chosen:
                given = lit(value).cast(without_time_attribute(kind).nullable())
                column = if_then_else(condition(column), given, column).alias(name)
            columns.append(column)
        return self._of(self._table.select(*columns))

    def _subset(self, subset: Any) -> list[str]:
        known = self._names
        if subset is None:
            return known
        if not isinstance(subset, list) or not all(isinstance(each, str) for each in subset):
            raise ArgumentTypeError("subset must be a list of strings")
        if not subset:
            raise ArgumentError("subset cannot be empty")
        missing = sorted(each for each in set(subset) if each not in known)
        if missing:
            raise ArgumentError(f"Columns not found in DataFrame: {missing}")
        return subset


def _is_function(given: Any) -> bool:
    return callable(given) and not isinstance(given, type | Expression)
