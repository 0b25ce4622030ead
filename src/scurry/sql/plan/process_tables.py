"""The node of process table functions, which make a table of tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Self

from scurry._dataclasses import dataclass
from scurry.errors import ValidationError
from scurry.sql.functions.user.definition import UserFunction
from scurry.sql.functions.user.process import ProcessSignature
from scurry.sql.plan.expressions import Expression
from scurry.sql.plan.nodes import Plan, walk
from scurry.sql.plan.schema import Schema


@dataclass(frozen=True)
class TableInput:
    """A table that a call gives to a function.

    Attributes:
        is_set: Whether its rows belong together by the columns of PARTITION BY.
        partition_by: Their positions.
        time: The position of the time attribute that `on_time` names; None without one.
        passes_through: Whether all of its columns stand before those of the function.
        takes_updates: Whether it may have updates.
        needs_before: Whether these have the row before, even if the columns of PARTITION BY identify rows.
    """

    name: str
    is_set: bool
    partition_by: tuple[int, ...]
    time: int | None
    passes_through: bool
    takes_updates: bool = False
    needs_before: bool = False


@dataclass(frozen=True)
class ProcessTableFunction(Plan):
    """The rows that a process table function makes of tables.

    The columns are the keys of the tables or the columns that are passed through, those of the function, and `rowtime`
    if a table has a time.

    Attributes:
        sources: The tables; a row without columns for a function without tables.
        tables: How they are given, one for each.
        scalars: Its other arguments, which refer to no columns.
        uid: What names its state in the job.
    """

    sources: tuple[Plan, ...]
    tables: tuple[TableInput, ...]
    function: UserFunction
    scalars: tuple[Expression, ...]
    uid: str
    output: Schema

    @property
    def inputs(self) -> tuple[Plan, ...]:
        return self.sources

    @property
    def schema(self) -> Schema:
        return self.output

    def with_inputs(self, inputs: tuple[Plan, ...]) -> Self:
        return replace(self, sources=inputs)

    @property
    def input(self) -> Plan:
        """The first table."""
        return self.sources[0]

    @property
    def is_partitioned(self) -> bool:
        """Return whether the rows are partitioned, so that the function may have state."""
        return any(each.is_set for each in self.tables)

    @property
    def has_timers(self) -> bool:
        return self.is_partitioned and not any(each.passes_through for each in self.tables)

    @property
    def has_time(self) -> bool:
        """Return whether the last column is `rowtime`."""
        return any(each.time is not None for each in self.tables)

    @property
    def signature(self) -> ProcessSignature:
        assert self.function.signature is not None, "process table functions have a signature"
        return self.function.signature


def check_identifiers(plans: Sequence[Plan]) -> None:
    """Refuse plans in which different calls with state have the same identifier.

    Raises:
        ValidationError: There are such calls.
    """
    known: dict[str, Plan] = {}
    for plan in plans:
        for node in walk(plan):
            if (
                isinstance(node, ProcessTableFunction)
                and node.is_partitioned
                and known.setdefault(node.uid, node) != node
            ):
                raise ValidationError(
                    f"Duplicate unique identifier '{node.uid}' detected among process table functions. Make sure that "
                    "all PTF calls have an identifier defined that is globally unique. Please provide a custom "
                    "identifier using the implicit `uid` argument. For example: myFunction(..., uid => 'my-id')"
                )
