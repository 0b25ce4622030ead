"""Typed expressions, which the validator makes of the expressions of a statement.

All are frozen. Two are equal if they compute the same; where they stand in the statement (`span`) does not count.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

from scurry._dataclasses import dataclass
from scurry.sql.types import DataType

#: Comparison as read from its right side, by its operator.
FLIPPED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}


@dataclass(frozen=True)
class Expression:
    """Something that has a value of a type for each row.

    Attributes:
        type: Its type; each kind of expression declares it among its fields.
        span: Where it stands in the statement, a `scurry.sql.syntax.span.Span`; None if it stands nowhere.
    """

    span: Any = field(default=None, compare=False, repr=False, kw_only=True)

    if TYPE_CHECKING:

        @property
        def type(self) -> DataType:
            """The type of its values."""


@dataclass(frozen=True)
class InputReference(Expression):
    """A column of the input, by position."""

    index: int
    type: DataType


@dataclass(frozen=True)
class CorrelatedReference(Expression):
    """A column of the row around a subquery.

    Attributes:
        index: Position of the column.
    """

    correlation: int
    index: int
    type: DataType


@dataclass(frozen=True)
class Literal(Expression):
    """A value as `scurry.sql.types.values` describes them; None is NULL."""

    value: Any
    type: DataType

    def __hash__(self) -> int:
        """Hash the value, also one of lists: those of arrays, maps and rows."""
        return hash((_hashable(self.value), self.type))


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, list | tuple) else value


@dataclass(frozen=True)
class Call(Expression):
    """A call of a built-in function or operator.

    Attributes:
        function: Its name in the catalogue.
        arguments: The arguments, of the types with which the function is called.
    """

    function: str
    arguments: tuple[Expression, ...]
    type: DataType

    def __hash__(self) -> int:
        """Hash the call once: views on views make deep trees, whose parts are shared."""
        found = self.__dict__.get("_hash")
        if found is None:
            found = hash((self.function, self.arguments))
            object.__setattr__(self, "_hash", found)
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle a tree of calls as a list: within each other they would be too deep for C's stack in Python 3.12."""
        steps: list[Any] = []
        pending: list[Expression] = [self]
        while pending:
            each = pending.pop()
            if type(each) is Call:
                steps.append((each.function, len(each.arguments), each.type, each.span))
                pending += each.arguments
            else:
                steps.append(each)
        return _tree, (steps[::-1],)


def _tree(steps: list[Any]) -> Expression:
    """Make a tree of calls: each step is a leaf, or a call that takes the last expressions that were made."""
    made: list[Expression] = []
    for step in steps:
        if type(step) is tuple:
            function, count, result, span = step
            first = len(made) - count
            made[first:] = [Call(function, tuple(made[first:]), result, span=span)]
        else:
            made.append(step)
    return made.pop()


@dataclass(frozen=True)
class UserFunctionCall(Expression):
    """A call of a function that the user has registered."""

    function: Any
    name: str
    arguments: tuple[Expression, ...]
    type: DataType


@dataclass(frozen=True)
class AggregateCall(Expression):
    """An aggregate over the rows of a group or window.

    Attributes:
        function: Its name in the catalogue, or the user's function.
        distinct: Whether equal arguments count once.
        filter: Only rows for which it is TRUE count.
    """

    function: Any
    arguments: tuple[Expression, ...]
    type: DataType
    distinct: bool = False
    filter: Expression | None = None
