"""CloseableIterator: iterates over the rows of a running job."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol, Self, TypeVar, runtime_checkable

__all__ = ["CloseableIterator"]

T_co = TypeVar("T_co", covariant=True)


@runtime_checkable
class CloseableIterator(Protocol[T_co]):
    """An iterator over the rows of a running job, for type hints.

    It is exhausted after `close`, which cancels the job if it runs. It closes itself at its end and when it fails.
    """

    def __iter__(self) -> Self:
        """Return itself."""
        ...

    def __next__(self) -> T_co:
        """Return the next element; wait for it if the job runs."""
        ...

    def close(self) -> None:
        """Cancel the job, if it runs, and forget the other rows."""
        ...

    def __enter__(self) -> Self:
        """Return itself."""
        ...

    def __exit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        """Close."""
        ...
