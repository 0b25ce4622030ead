"""The transactions that a snapshot of PostgreSQL has."""

from __future__ import annotations

from scurry._dataclasses import dataclass

_WRAP = 1 << 32


@dataclass(frozen=True)
class Visibility:
    """A snapshot: the transactions that were committed or rolled back when it was taken.

    Attributes:
        first: All transactions before it had ended.
        next: No transaction from it on had ended.
        running: Those in between that had not ended.
    """

    first: int
    next: int
    running: frozenset[int]

    @classmethod
    def of(cls, text: str) -> Visibility:
        """Return the snapshot of the text that `txid_current_snapshot` has."""
        first, following, running = text.split(":")
        return cls(int(first), int(following), frozenset(map(int, filter(None, running.split(",")))))

    def sees(self, xid: int) -> bool:
        """Return whether a transaction had ended; of its number the log has 32 bits."""
        whole = (self.next & ~(_WRAP - 1)) | xid
        if whole - self.next > _WRAP // 2:
            whole -= _WRAP
        elif self.next - whole > _WRAP // 2:
            whole += _WRAP
        return whole < self.first or (whole < self.next and whole not in self.running)
