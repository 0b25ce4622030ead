"""StatementResult: what a statement answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from scurry.catalog.schema import ResolvedSchema
from scurry.logical_types import BooleanType, DataType, VarCharType

if TYPE_CHECKING:
    from scurry.common.job_client import JobClient

__all__ = ["BOOLEAN", "STRING", "StatementResult", "names_result", "ok", "table_result"]

STRING = VarCharType(0x7FFFFFFF)
BOOLEAN = BooleanType()


@dataclass
class StatementResult:
    """What a statement answers.

    Attributes:
        schema: Names and types of the columns.
        rows: The kind of change and the values of each row, once; values as `logical_types.values` has them.
        has_content: Whether there is more than `OK`.
        is_query: Whether the rows are those of a query: they are printed in columns whose width follows from the types,
            and in STREAMING with the kinds of changes.
        job: The job that makes the rows, or writes them; None if there is none.
    """

    schema: ResolvedSchema
    rows: Iterator[tuple[int, tuple[Any, ...]]] = field(default_factory=lambda: iter(()))
    has_content: bool = True
    is_query: bool = False
    job: JobClient | None = None


def ok() -> StatementResult:
    """Return the answer of statements that only do something."""
    return StatementResult(ResolvedSchema.physical(["result"], [STRING]), iter([(0, ("OK",))]), has_content=False)


def table_result(columns: Sequence[tuple[str, DataType]], rows: Iterable[tuple[Any, ...]]) -> StatementResult:
    """Return some rows."""
    names, types = [name for name, _ in columns], [kind for _, kind in columns]
    return StatementResult(ResolvedSchema.physical(names, types), iter([(0, row) for row in rows]))


def names_result(column: str, names: Iterable[str]) -> StatementResult:
    """Return one column of names."""
    return table_result([(column, STRING)], [(name,) for name in names])
