"""Declarations of process table functions: arguments and state."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any

from scurry._dataclasses import dataclass
from scurry.sql.types import DataType


class ArgumentTrait(enum.Enum):
    """A trait of an argument of a process table function."""

    #: a single value
    SCALAR = "SCALAR"
    #: a table whose rows have nothing to do with each other
    ROW_SEMANTIC_TABLE = "ROW_SEMANTIC_TABLE"
    #: a table whose rows belong together by the columns of PARTITION BY
    SET_SEMANTIC_TABLE = "SET_SEMANTIC_TABLE"
    #: all columns of the table stand before those of the function
    PASS_COLUMNS_THROUGH = "PASS_COLUMNS_THROUGH"
    #: a call may leave out PARTITION BY: all rows belong together
    OPTIONAL_PARTITION_BY = "OPTIONAL_PARTITION_BY"
    #: a call has to name the time attribute of the table
    REQUIRE_ON_TIME = "REQUIRE_ON_TIME"
    #: the table may have updates: the kind of a row is its `get_row_kind()`
    SUPPORT_UPDATES = "SUPPORT_UPDATES"
    #: updates have the row before, even where PARTITION BY identifies rows
    REQUIRE_UPDATE_BEFORE = "REQUIRE_UPDATE_BEFORE"
    #: rows that are deleted have all columns (which they always have here)
    REQUIRE_FULL_DELETE = "REQUIRE_FULL_DELETE"


@dataclass(frozen=True)
class DeclaredArgument:
    """An argument of calls.

    Attributes:
        name: Its name.
        traits: What is special about it.
        data_type: The type that a value is converted to; None to take it as it is.
        maker: Makes an instance of a class of a row; None to take it as it is.
        is_optional: Whether a call may leave it out: it is None then.
    """

    name: str
    traits: frozenset[ArgumentTrait]
    data_type: DataType | None = None
    maker: Callable[[Any], Any] | None = None
    is_optional: bool = False

    @property
    def is_table(self) -> bool:
        return bool(self.traits & {ArgumentTrait.ROW_SEMANTIC_TABLE, ArgumentTrait.SET_SEMANTIC_TABLE})

    @property
    def is_set(self) -> bool:
        """Return whether it is a table with set semantics."""
        return ArgumentTrait.SET_SEMANTIC_TABLE in self.traits


@dataclass(frozen=True)
class DeclaredState:
    """An entry of the state of each partition.

    Attributes:
        name: Its name.
        make: Makes the value of a partition that has none.
        ttl: Milliseconds after which it is forgotten unless it changes, 0 for never; None for `table.exec.state.ttl`.
    """

    name: str
    make: Callable[[], Any]
    ttl: int | None = None


@dataclass(frozen=True)
class ProcessSignature:
    """The parameters of `eval` and `on_timer`.

    Attributes:
        states: The entries of state.
        arguments: The arguments of calls.
        takes_context: Whether the first parameter of `eval` is a context.
        timer_takes_context: The same of `on_timer`; None if there is no such method.
    """

    states: Sequence[DeclaredState]
    arguments: Sequence[DeclaredArgument]
    takes_context: bool
    timer_takes_context: bool | None

    @property
    def tables(self) -> list[DeclaredArgument]:
        return [each for each in self.arguments if each.is_table]

    @property
    def scalars(self) -> list[DeclaredArgument]:
        """The other ones."""
        return [each for each in self.arguments if not each.is_table]
