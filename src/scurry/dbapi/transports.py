"""Transport: the session in which the statements of a connection are executed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from scurry.sql.client.executor import Description

#: Seconds that one request for a result waits for it.
PATIENCE_SECONDS = 0.05

Change = tuple[int, tuple[Any, ...]]
"""A row: the kind of change, as a value of `RowKind`, and its Python values."""


class Execution(Protocol):
    """A statement that is being executed."""

    def described(self) -> Description | None:
        """Return the columns once the statement has been executed; None after a short wait."""
        ...

    def page(self) -> list[Change] | None:
        """Return the next rows, which may be none after a short wait; None after the last one."""
        ...

    def cancel(self) -> None:
        """Stop it, and the job that it has begun.

        Raises:
            GatewayError: It is over.
        """
        ...

    def close(self) -> None:
        """End it, and the job of a query."""
        ...


class Transport(Protocol):
    """A session in which statements are executed."""

    def begin(self, text: str) -> Execution:
        """Begin to execute a statement."""
        ...

    def close(self) -> None:
        """End the session."""
        ...

    def abandon(self) -> None:
        """Let the session go without a request: nobody has closed it."""
        ...
