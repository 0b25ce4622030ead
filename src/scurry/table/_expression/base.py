"""Base of the methods of expressions."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from scurry.sql.functions.user.definition import UserFunction
from scurry.sql.syntax import nodes
from scurry.table._expression.syntax import filled, here, literal

if TYPE_CHECKING:
    from scurry.sql.plan.nodes import Plan


class ExpressionBase:
    """A syntax tree of SQL, with its scope beside the catalog.

    Attributes:
        _node: The syntax tree.
        _functions: The user-defined functions that it calls, by the names it calls them by.
        _tables: The tables that it reads, by the names it reads them by.
        _names: What `alias` named it.
        _descending: The order that `asc` or `desc` asked for.
        _text: The SQL that it was given as, if it was; such an expression gives no name to a column.
    """

    def __init__(
        self,
        node: nodes.Expression,
        functions: Mapping[str, UserFunction] | None = None,
        names: tuple[str, ...] = (),
        descending: bool | None = None,
        tables: Mapping[str, Plan] | None = None,
        text: str | None = None,
    ) -> None:
        """Wrap a syntax tree; programs use `col`, `lit` and the functions of `expressions`.

        Args:
            node: The syntax tree.
            functions: The user-defined functions that it calls, by the names it calls them by.
            names: What `alias` named it.
            descending: The order that `asc` or `desc` asked for.
            tables: The tables that it reads, by the names it reads them by.
            text: The SQL that it was given as, if it was; such an expression gives no name to a column.
        """
        self._node = node
        self._functions = dict(functions or {})
        self._names = names
        self._descending = descending
        self._tables = dict(tables or {})
        self._text = text

    @property
    def _is_text(self) -> bool:
        return self._text is not None

    def __str__(self) -> str:
        """Return the expression as messages write it: `plus(a, 1)`."""
        from scurry.sql.statements.table_operations.summary import summary

        text = summary(self._node) if self._text is None else f"[{self._text}]"
        if self._names:
            text = f"as({', '.join([text, *(repr(name) for name in self._names)])})"
        return text if self._descending is None else f"{'desc' if self._descending else 'asc'}({text})"

    __repr__ = __str__
    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        """Return True, as of any object: Python's `and`, `or` and `not` cannot be overloaded. A warning says so."""
        warnings.warn(
            f"Python's `and`, `or` and `not` take the expression {self} for true and lose it: write "
            "(a > 1) & (b == 2) for AND, | for OR, ~ for NOT",
            stacklevel=2,
        )
        return True

    @classmethod
    def _of(cls, value: Any) -> Self:
        """Return an expression as it is, and a Python value as a literal."""
        return value if isinstance(value, cls) else cls(literal(value))

    @classmethod
    def _argument(cls, value: Any) -> Self:
        """Return an argument of a function: of a list the array of its elements, of a dict the map of its entries."""
        if isinstance(value, list | tuple | range):
            return cls._call_of("ARRAY", *value)
        if isinstance(value, dict):
            return cls._call_of("MAP", *(part for entry in value.items() for part in entry))
        return cls._of(value)

    @classmethod
    def _made(cls, node: nodes.Expression, parts: list[Self]) -> Self:
        """Return an expression made of others."""
        functions = {name: function for each in parts for name, function in each._functions.items()}
        tables = {name: plan for each in parts for name, plan in each._tables.items()}
        return cls(node, functions, tables=tables)

    @classmethod
    def _call_of(cls, function: str, *arguments: Any) -> Self:
        """Return a call of a function or operator; trailing None are arguments left out."""
        parts = [cls._argument(each) for each in arguments]
        name = nodes.Identifier((function,), span=here())
        return cls._made(nodes.Call(name, tuple(each._node for each in parts), span=here()), parts)

    def _call(self, function: str, *arguments: Any) -> Self:
        """Return a call of a function with this expression first; arguments that are None are left out."""
        return self._call_of(function, self, *(each for each in arguments if each is not None))

    @classmethod
    def _sql(cls, template: str, **parts: Any) -> Self:
        """Return the expression of a text of SQL, in which names stand for expressions or Python values."""
        found = {name: cls._argument(each) for name, each in parts.items()}
        return cls._made(filled(template, {name: each._node for name, each in found.items()}), list(found.values()))

    def _with(self, **changes: Any) -> Self:
        """Return the same expression with some of its attributes changed."""
        kept = {
            "functions": self._functions,
            "names": self._names,
            "descending": self._descending,
            "tables": self._tables,
        }
        return type(self)(self._node, **{**kept, **changes})

    def _with_node(self, node: nodes.Expression) -> Self:
        """Return an expression of another syntax tree with the attributes of this one."""
        return type(self)(node, self._functions, self._names, self._descending, self._tables)
