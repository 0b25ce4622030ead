"""PartNames: what the files of a sink are called, in every state of theirs."""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass
from functools import cached_property

__all__ = ["PartNames", "Small"]


@dataclass(frozen=True)
class Small:
    """What the name of a small file of a compacting sink says.

    Attributes:
        part: The name it would have without compaction.
        batch: The micro-batch that wrote it.
        last: The last batch of the compacted file that holds its records; None if they are not compacted.
    """

    part: str
    batch: int
    last: int | None


@dataclass(frozen=True)
class PartNames:
    """Names of the files of one sink of one job.

    A file is written as `.<name>.inprogress.<random>` and becomes `<name>`. With compaction it becomes
    `.<name>.uncompacted`, and `.<name>.compacted.<last>` when the file `compacted-...-<first>-<last>` holds its
    records. That one is written as `.compacted-....inprogress.<random>`, and is `.compacted-....ready` for a moment.

    Attributes:
        begin: What they begin with, unlike those of any other sink.
        suffix: What they end with.
    """

    begin: str
    suffix: str

    def part(self, batch: int, subtask: int, number: int) -> str:
        """Return the name of a file written by a subtask in a batch."""
        return f"{self.begin}{batch}-{subtask}-{number}{self.suffix}"

    def compacted(self, first: int, last: int) -> str:
        """Return the name of a file that holds the records of these batches."""
        return f"compacted-{self.begin}{first}-{last}{self.suffix}"

    def in_progress(self, name: str) -> str:
        """Return the name of a file that is being written."""
        return f".{name}.inprogress.{uuid.uuid4().hex}"

    def ready(self, compacted: str) -> str:
        """Return the name of a complete compacted file whose inputs are not all marked yet."""
        return f".{compacted}.ready"

    def uncompacted(self, part: str) -> str:
        """Return the name of a small file waiting to be compacted."""
        return f".{part}.uncompacted"

    def consumed(self, part: str, last: int) -> str:
        """Return the name of a small file whose records are in a compacted one."""
        return f".{part}.compacted.{last}"

    # ------------------------------------------------------------------ reading names, whatever the suffix was then

    @cached_property
    def _part(self) -> str:
        return rf"{re.escape(self.begin)}(\d+)-\d+-\d+.*"

    @cached_property
    def _compacted(self) -> str:
        return rf"compacted-{re.escape(self.begin)}(\d+)-(\d+).*"

    @cached_property
    def _patterns(self) -> dict[str, re.Pattern[str]]:
        return {
            "part": re.compile(self._part),
            "small": re.compile(rf"\.({self._part})\.(?:uncompacted|compacted\.(\d+))"),
            "compacted": re.compile(self._compacted),
            "ready": re.compile(rf"\.({self._compacted})\.ready"),
            "in progress": re.compile(rf"\.(?:{self._part}|{self._compacted})\.inprogress\.[0-9a-f]{{32}}"),
        }

    def batch_of_part(self, name: str) -> int | None:
        """Return the batch of a visible file that was not compacted; None if it is none of this sink's."""
        found = self._patterns["part"].fullmatch(name)
        return int(found[1]) if found else None

    def small(self, name: str) -> Small | None:
        """Return what the name of a small file says; None if it is none of this sink's."""
        found = self._patterns["small"].fullmatch(name)
        if found is None:
            return None
        return Small(found[1], int(found[2]), None if found[3] is None else int(found[3]))

    def range_of(self, name: str) -> tuple[int, int] | None:
        """Return the batches of a visible compacted file; None if it is none of this sink's."""
        found = self._patterns["compacted"].fullmatch(name)
        return (int(found[1]), int(found[2])) if found else None

    def range_of_ready(self, name: str) -> tuple[int, int] | None:
        """Return the batches of a compacted file that is not visible yet; None if it is none of this sink's."""
        found = self._patterns["ready"].fullmatch(name)
        return (int(found[2]), int(found[3])) if found else None

    def is_in_progress(self, name: str) -> bool:
        """Whether it is a file of this sink that is, or was, being written."""
        return self._patterns["in progress"].fullmatch(name) is not None
