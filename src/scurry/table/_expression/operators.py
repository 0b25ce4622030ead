"""Python's operators, conditions, types, names and order."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, Self

from scurry.sql.syntax import nodes
from scurry.sql.types import DataType
from scurry.table._expression.base import ExpressionBase
from scurry.table._expression.syntax import here, parsed

if TYPE_CHECKING:
    from scurry.table.table import Table


class _OfTables(Protocol):
    """A type of `pyflink.dataframe`, which says which type of tables it is."""

    def _to_table_data_type(self) -> DataType: ...


def _operator(operator: str, reverse: bool = False) -> Callable[[Any, Any], Any]:
    def call(self: Any, other: Any) -> Any:
        return self._call_of(operator, other, self) if reverse else self._call_of(operator, self, other)

    call.__doc__ = f"Return the result of the operator `{operator}`."
    return call


class Operators(ExpressionBase):
    """Python's operators, conditions, types, names and order."""

    __hash__ = object.__hash__
    __eq__ = _operator("=")
    __ne__ = _operator("<>")
    __lt__ = _operator("<")
    __gt__ = _operator(">")
    __le__ = _operator("<=")
    __ge__ = _operator(">=")
    __and__ = _operator("AND")
    __or__ = _operator("OR")
    __rand__ = _operator("AND", reverse=True)
    __ror__ = _operator("OR", reverse=True)
    __add__ = _operator("+")
    __sub__ = _operator("-")
    __mul__ = _operator("*")
    __truediv__ = _operator("/")
    __mod__ = _operator("MOD")
    __pow__ = _operator("POWER")
    __radd__ = _operator("+", reverse=True)
    __rsub__ = _operator("-", reverse=True)
    __rmul__ = _operator("*", reverse=True)
    __rtruediv__ = _operator("/", reverse=True)
    __rmod__ = _operator("MOD", reverse=True)
    __rpow__ = _operator("POWER", reverse=True)

    def __abs__(self) -> Self:
        """Return the number without its sign."""
        return self._call("ABS")

    def __invert__(self) -> Self:
        """Return whether a condition is FALSE or NULL."""
        return self._call("IS NOT TRUE")

    def __neg__(self, *args: Any) -> Self:
        """Return the negative of a number."""
        return self._call("NEGATE")

    # ------------------------------------------------------------------ names, types, order

    def alias(self, name: str, *extra_names: str) -> Self:
        """Name the column.

        Args:
            name: Its name.
            *extra_names: Further names, if it stands for several columns.
        """
        return self._with(names=(name, *extra_names))

    def as_argument(self, name: str) -> Self:
        """Give the expression to the argument of a function that has a name.

        Args:
            name: The name of the argument.
        """
        named = nodes.NamedArgument(nodes.Identifier((name,)), self._node, span=here())
        return self._made(named, [self])

    def cast(self, data_type: DataType | _OfTables) -> Self:
        """Convert to a type.

        Args:
            data_type: The type.
        """
        return self._converted(data_type, "CAST")

    def try_cast(self, data_type: DataType | _OfTables) -> Self:
        """Convert to a type; values that cannot be converted are NULL.

        Args:
            data_type: The type.
        """
        return self._converted(data_type, "TRY_CAST")

    def _converted(self, given: DataType | _OfTables, function: str) -> Self:
        data_type = given if isinstance(given, DataType) else given._to_table_data_type()
        node = parsed(f"{function}(NULL AS {data_type.nullable().as_summary_string()})")
        assert isinstance(node, nodes.Cast)
        kind = nodes.replace(node.type, nullable=data_type._nullable)
        return self._made(nodes.replace(node, operand=self._node, type=kind, span=here()), [self])

    @property
    def asc(self) -> Self:
        """Sort by it, the smallest value first."""
        return self._with(descending=False)

    @property
    def desc(self) -> Self:
        """Sort by it, the greatest value first."""
        return self._with(descending=True)

    # ------------------------------------------------------------------ conditions

    def between(self, lower_bound: Any, upper_bound: Any) -> Self:
        """Return whether the value is between two others, or is one of them.

        Args:
            lower_bound: The smallest value.
            upper_bound: The greatest value.
        """
        return self._sql("x BETWEEN low AND high", x=self, low=lower_bound, high=upper_bound)

    def not_between(self, lower_bound: Any, upper_bound: Any) -> Self:
        """Return whether the value is smaller than one or greater than another.

        Args:
            lower_bound: The smallest value that is not meant.
            upper_bound: The greatest value that is not meant.
        """
        return self._sql("x NOT BETWEEN low AND high", x=self, low=lower_bound, high=upper_bound)

    def then(self, if_true: Any, if_false: Any) -> Self:
        """Return one value where this condition is TRUE, else another.

        Args:
            if_true: The one.
            if_false: The other.
        """
        return self._call_of("CASE", self, if_true, if_false)

    def if_null(self, null_replacement: Any) -> Self:
        """Return the value, or another one where it is NULL.

        Args:
            null_replacement: The other one.
        """
        return self._call_of("IFNULL", self, null_replacement)

    @property
    def is_null(self) -> Self:
        """Return whether there is no value."""
        return self._call("IS NULL")

    @property
    def is_not_null(self) -> Self:
        """Return whether there is a value."""
        return self._call("IS NOT NULL")

    @property
    def is_true(self) -> Self:
        """Return whether a condition is TRUE."""
        return self._call("IS TRUE")

    @property
    def is_false(self) -> Self:
        """Return whether a condition is FALSE."""
        return self._call("IS FALSE")

    @property
    def is_not_true(self) -> Self:
        """Return whether a condition is FALSE or NULL."""
        return self._call("IS NOT TRUE")

    @property
    def is_not_false(self) -> Self:
        """Return whether a condition is TRUE or NULL."""
        return self._call("IS NOT FALSE")

    def in_(self, first_element_or_table: Any | Table, *remaining_elements: Any) -> Self:
        """Return whether the value is one of several, or in a table of one column.

        Args:
            first_element_or_table: The first of the values, or the table.
            *remaining_elements: The other values.
        """
        plan = getattr(first_element_or_table, "_plan", None)
        if plan is not None:
            name = f"*in*{id(plan)}"
            query = nodes.Select((nodes.SelectItem(nodes.Star()),), nodes.TableReference(nodes.Identifier((name,))))
            found = self._made(nodes.In(self._node, query, span=here()), [self])
            return found._with(tables={**found._tables, name: plan})
        parts = [self._argument(each) for each in (first_element_or_table, *remaining_elements)]
        node = nodes.In(self._node, tuple(each._node for each in parts), span=here())
        return self._made(node, [self, *parts])
