"""Executor: executes the statements of a client."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from scurry._dataclasses import dataclass
from scurry.sql.types import DataType

Cells = tuple[int, Sequence[str | None]]
"""A row: the kind of change and the text of each value, None for NULL."""


class Answer(Protocol):
    """The answer of a statement."""

    @property
    def columns(self) -> list[tuple[str, DataType]]: ...

    @property
    def is_query(self) -> bool:
        """Return whether the rows are those of a query."""
        ...

    @property
    def has_content(self) -> bool:
        """Return whether the answer is more than OK."""
        ...

    @property
    def job_id(self) -> str | None:
        """The identifier of the statement's job."""
        ...

    def pages(self) -> Iterator[list[Cells]]:
        """Yield the rows as they come; a page may be empty meanwhile."""
        ...

    def cancel(self) -> None:
        """Cancel the job of a query; no more rows come."""
        ...


@dataclass(frozen=True)
class Description:
    """The description of a result before its rows arrive."""

    columns: list[tuple[str, DataType]]
    is_query: bool
    has_content: bool
    job_id: str | None


class Executor(Protocol):
    """Executes the statements of a client."""

    def execute(self, text: str, script: str = "", line: int = 1) -> Answer:
        """Execute a statement.

        Args:
            script: The file that it is from; empty if it was typed.
            line: The line of the file that it begins in.

        Raises:
            ScurryError: It has failed.
            KeyboardInterrupt: The user does not want to wait; the statement is cancelled.
        """
        ...

    def complete(self, text: str, position: int) -> list[str]:
        """Return the completions at the cursor."""
        ...

    def settings(self) -> dict[str, str]:
        """Return all settings of the session."""
        ...

    def close(self) -> None:
        """End the session."""
        ...
