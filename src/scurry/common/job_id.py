"""JobID: the unique identifier of a job."""

from __future__ import annotations

import uuid

__all__ = ["JobID"]


class JobID:
    """An identifier of 32 hexadecimal digits, as Flink's `JobID`."""

    __slots__ = ("_digits",)

    def __init__(self, digits: str | None = None) -> None:
        """Make a new identifier, or the one of these digits.

        Raises:
            ValueError: They are not 32 hexadecimal digits.
        """
        if digits is not None and (len(digits) != 32 or set(digits) - set("0123456789abcdef")):
            raise ValueError(f"a JobID has 32 lower-case hexadecimal digits: {digits!r}")
        self._digits = digits or uuid.uuid4().hex

    def __str__(self) -> str:
        """Return the digits."""
        return self._digits

    def __repr__(self) -> str:
        """Return the expression that makes this identifier."""
        return f"JobID({self._digits!r})"

    def __eq__(self, other: object) -> bool:
        """Compare the digits."""
        return isinstance(other, JobID) and self._digits == other._digits

    def __hash__(self) -> int:
        """Hash the digits."""
        return hash(self._digits)
