"""Expression: columns, values and calls of functions, of which tables are made."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from scurry.errors import ArgumentTypeError
from scurry.functions.user.definition import UserFunction
from scurry.graph.nodes import Origin
from scurry.logical_types import DataType
from scurry.sql import nodes
from scurry.sql.parser import parse
from scurry.sql.span import Span

__all__ = ["Expression", "call_of", "expression_of", "parsed"]


class _PlaceOfCode(Span):
    """Where in a program an expression is made, as messages name it."""

    __slots__ = ("_origin",)

    def __init__(self, origin: Origin) -> None:
        super().__init__("", 0, 0)
        self._origin = origin

    def to(self, other: Span) -> Span:
        return self

    def describe(self) -> str:
        return f"At {self._origin}"


def _nullary(function: str) -> Any:
    """Return the property that calls a function with the expression."""

    def call(self: Expression) -> Expression:
        return call_of(function, self)

    call.__doc__ = f"Return `{function}` of the expression."
    return property(call)


def _operator(operator: str, reverse: bool = False) -> Any:
    def call(self: Expression, other: Any) -> Expression:
        return call_of(operator, other, self) if reverse else call_of(operator, self, other)

    call.__doc__ = f"Return the result of the operator `{operator}`."
    return call


def _method(function: str) -> Any:
    """Return the method that calls a function with the expression and further arguments."""

    def call(self: Expression, *arguments: Any) -> Expression:
        return call_of(function, self, *(each for each in arguments if each is not None))

    call.__doc__ = f"Return `{function}` of the expression and the arguments."
    return call


class Expression:
    """A column, a value, or what functions and operators make of them. It has a type where a table is made of it."""

    def __init__(
        self,
        node: nodes.Expression,
        functions: Mapping[str, UserFunction] | None = None,
        names: tuple[str, ...] = (),
        descending: bool | None = None,
    ) -> None:
        """Wrap a syntax tree; programs use `col`, `lit` and the functions of `expressions`.

        Args:
            node: The syntax tree.
            functions: The functions of users that it calls, by the names it calls them by.
            names: What `alias` named it.
            descending: The order that `asc` or `desc` asked for.
        """
        self._node = node
        self._functions = dict(functions or {})
        self._names = names
        self._descending = descending

    def __str__(self) -> str:
        """Return the expression in SQL."""
        from scurry.sql.unparse import unparse

        return unparse(self._node)

    __repr__ = __str__
    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        """Refuse: Python's `and`, `or` and `not` cannot be overloaded.

        Raises:
            ArgumentTypeError: Always.
        """
        raise ArgumentTypeError("an expression has no truth value here: use & for AND, | for OR, and not_()")

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return a property or method of `_NULLARY`, `_AGGREGATES` or `_METHODS`."""

    # ------------------------------------------------------------------ operators

    __eq__ = _operator("=")
    __ne__ = _operator("<>")
    __lt__ = _operator("<")
    __gt__ = _operator(">")
    __le__ = _operator("<=")
    __ge__ = _operator(">=")
    __and__ = _operator("AND")
    __or__ = _operator("OR")
    __rand__ = _operator("AND")
    __ror__ = _operator("OR")
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
    __abs__ = _method("ABS")
    __invert__ = _method("IS NOT TRUE")

    def __neg__(self) -> Expression:
        """Return the negative of a number."""
        return call_of("NEGATE", self)

    def __getitem__(self, index: Any) -> Expression:
        """Return an element of an array or map, or a field of a row."""
        return self.get(index) if isinstance(index, str) else self.at(index)

    # ------------------------------------------------------------------ names, types, order

    def alias(self, name: str, *extra_names: str) -> Expression:
        """Name the column.

        Args:
            name: Its name.
            *extra_names: Further names, if it stands for several columns.
        """
        return Expression(self._node, self._functions, (name, *extra_names), self._descending)

    def cast(self, data_type: DataType) -> Expression:
        """Convert to a type.

        Args:
            data_type: The type.
        """
        return self._cast(data_type, "CAST")

    def try_cast(self, data_type: DataType) -> Expression:
        """Convert to a type; what cannot be converted is NULL.

        Args:
            data_type: The type.
        """
        return self._cast(data_type, "TRY_CAST")

    def _cast(self, data_type: DataType, function: str) -> Expression:
        node = parsed(f"{function}(NULL AS {data_type.as_summary_string()})")
        return Expression(nodes.replace(node, operand=self._node, span=_here()), self._functions)

    @property
    def asc(self) -> Expression:
        """Sort by it, the smallest value first."""
        return Expression(self._node, self._functions, self._names, False)

    @property
    def desc(self) -> Expression:
        """Sort by it, the greatest value first."""
        return Expression(self._node, self._functions, self._names, True)

    # ------------------------------------------------------------------ conditions

    def between(self, lower_bound: Any, upper_bound: Any) -> Expression:
        """Say whether the value is between two others, or is one of them."""
        return call_of("AND", call_of(">=", self, lower_bound), call_of("<=", self, upper_bound))

    def not_between(self, lower_bound: Any, upper_bound: Any) -> Expression:
        """Say whether the value is smaller than one or greater than another."""
        return call_of("NOT", self.between(lower_bound, upper_bound))

    def then(self, if_true: Any, if_false: Any) -> Expression:
        """Return one value where this condition is TRUE, else another."""
        return call_of("CASE", self, if_true, if_false)

    def in_(self, first_element: Any, *remaining_elements: Any) -> Expression:
        """Say whether the value is one of several."""
        parts = [expression_of(each) for each in (first_element, *remaining_elements)]
        node = nodes.In(self._node, tuple(each._node for each in parts), span=_here())
        return Expression(node, _all_functions([self, *parts]))

    # ------------------------------------------------------------------ aggregates

    @property
    def distinct(self) -> Expression:
        """Let equal values count once in the aggregate that follows."""
        return _Distinct(self._node, self._functions)

    @property
    def count(self) -> Expression:
        """Count the rows with a value."""
        return self._aggregated("COUNT")

    def list_agg(self, separator: str | None = None) -> Expression:
        """Join texts."""
        return call_of("LISTAGG", self, *([] if separator is None else [separator]))

    def _aggregated(self, function: str) -> Expression:
        node = call_of(function, self)
        if not isinstance(self, _Distinct):
            return node
        assert isinstance(node._node, nodes.Call)
        return Expression(nodes.replace(node._node, quantifier="DISTINCT"), self._functions)

    # ------------------------------------------------------------------ collections

    def get(self, name_or_index: str | int) -> Expression:
        """Return a field of a row.

        Args:
            name_or_index: Its name.
        """
        if isinstance(name_or_index, int):
            return call_of("FIELD", self, name_or_index)
        name = nodes.Identifier((name_or_index,), span=_here())
        return Expression(nodes.FieldAccess(self._node, name, span=_here()), self._functions)

    def at(self, index: Any) -> Expression:
        """Return an element of an array, the first one by 1, or the value of a key of a map."""
        return call_of("ITEM", self, index)

    def concat(self, other: Any) -> Expression:
        """Return the text followed by another."""
        return call_of("||", self, other)

    def position(self, haystack: Any) -> Expression:
        """Return where this text first occurs in another, from 1."""
        return call_of("POSITION", self, haystack)


class _Distinct(Expression):
    """The argument of an aggregate of distinct values."""


#: Properties of expressions, and the functions they call.
_NULLARY = {
    **{name: name.upper() for name in (
        "exp log10 log2 ln cosh sinh sin cos tan cot asin acos atan tanh degrees radians sqrt abs sign bin hex unhex "
        "char_length from_base64 to_base64 ascii chr reverse to_date to_timestamp cardinality element map_keys "
        "map_values map_entries md5 sha1 sha224 sha256 sha384 sha512"
    ).split()},
    "upper_case": "UPPER",
    "lower_case": "LOWER",
    "init_cap": "INITCAP",
    "is_null": "IS NULL",
    "is_not_null": "IS NOT NULL",
    "is_true": "IS TRUE",
    "is_false": "IS FALSE",
    "is_not_true": "IS NOT TRUE",
    "is_not_false": "IS NOT FALSE",
}  # fmt: skip
_AGGREGATES = {
    "sum": "SUM",
    "sum0": "$SUM0",
    "min": "MIN",
    "max": "MAX",
    "avg": "AVG",
    "first_value": "FIRST_VALUE",
    "last_value": "LAST_VALUE",
    "stddev_pop": "STDDEV_POP",
    "stddev_samp": "STDDEV_SAMP",
    "var_pop": "VAR_POP",
    "var_samp": "VAR_SAMP",
    "collect": "COLLECT",
    "array_agg": "ARRAY_AGG",
}
#: Methods of expressions, and the functions they call.
_METHODS = {
    **{name: name.upper() for name in (
        "round truncate substring substr translate lpad rpad overlay regexp regexp_count regexp_replace "
        "regexp_extract regexp_extract_all regexp_instr regexp_substr decode encode left right instr locate url_decode "
        "url_encode inet_aton inet_ntoa parse_url printf ltrim rtrim btrim repeat split_index str_to_map elt "
        "array_append array_contains array_distinct array_position array_prepend array_remove array_reverse "
        "array_slice array_sort array_union array_concat array_max array_join array_min array_except array_intersect "
        "split map_union sha2 json_quote json_unquote"
    ).split()},
    "if_null": "IFNULL",
    "log": "LOG",
    "starts_with": "STARTSWITH",
    "ends_with": "ENDSWITH",
    "replace": "REPLACE",
    "like": "LIKE",
    "similar": "SIMILAR TO",
    "trim_leading": "LTRIM",
    "trim_trailing": "RTRIM",
    "trim": "BTRIM",
    "floor": "FLOOR",
    "ceil": "CEIL",
    "percentile": "PERCENTILE",
}  # fmt: skip


def _aggregate(function: str) -> Any:
    def call(self: Expression) -> Expression:
        return self._aggregated(function)

    call.__doc__ = f"Return the aggregate `{function}` of the expression."
    return property(call)


for _name, _function in _NULLARY.items():
    setattr(Expression, _name, _nullary(_function))
for _name, _function in _AGGREGATES.items():
    setattr(Expression, _name, _aggregate(_function))
for _name, _function in _METHODS.items():
    setattr(Expression, _name, _method(_function))


def call_of(function: str, *arguments: Any) -> Expression:
    """Return a call of a function or operator.

    Args:
        function: Its name in the catalogue.
        *arguments: Expressions, or Python values.
    """
    parts = [expression_of(each) for each in arguments]
    name = nodes.Identifier((function,), span=_here())
    node = nodes.Call(name, tuple(each._node for each in parts), span=_here())
    return Expression(node, _all_functions(parts))


def expression_of(value: Any) -> Expression:
    """Return an expression as it is, and a Python value as a literal.

    Raises:
        ArgumentTypeError: The value has no SQL literal.
    """
    if isinstance(value, Expression):
        return value
    return Expression(nodes.replace(parsed(_literal(value)), span=_here()))


def parsed(text: str) -> nodes.Expression:
    """Return the expression of a text of SQL, with its place in the program."""
    query = parse(f"SELECT {text}")
    assert isinstance(query, nodes.Select)
    return nodes.replace(query.items[0].expression, span=_here())


def _all_functions(parts: list[Expression]) -> dict[str, UserFunction]:
    return {name: function for each in parts for name, function in each._functions.items()}


def _here() -> Span:
    return _PlaceOfCode(Origin.of_caller())


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | decimal.Decimal):
        return str(value) if not isinstance(value, decimal.Decimal) else format(value, "f")
    if isinstance(value, float):
        return f"{value!r}e0" if "e" not in repr(value) and "n" not in repr(value) else f"CAST('{value!r}' AS DOUBLE)"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bytes | bytearray):
        return f"X'{bytes(value).hex()}'"
    if isinstance(value, datetime.datetime):
        return f"TIMESTAMP '{value.replace(tzinfo=None).isoformat(' ')}'"
    if isinstance(value, datetime.date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, datetime.time):
        return f"TIME '{value.isoformat()}'"
    if isinstance(value, datetime.timedelta):
        return f"INTERVAL '{value.total_seconds():.3f}' SECOND(10, 3)"
    raise ArgumentTypeError(f"{value!r} is no literal of SQL: expected an expression or a plain value")
