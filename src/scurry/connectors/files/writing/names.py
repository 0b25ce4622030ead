"""PartNames: the names of a sink's files, from writing to compaction."""

from __future__ import annotations

import re
import uuid
from functools import cached_property

from scurry._dataclasses import dataclass


@dataclass(frozen=True)
class Small:
    """The parsed name of a small file of a compacting sink.

    Attributes:
        part: The name of the file without compaction.
        batch: The micro-batch that wrote it.
        last: The last batch of the compacted file that contains its records; None if it is not compacted.
    """

    part: str
    batch: int
    last: int | None


@dataclass(frozen=True)
class PartNames:
    """Names of the files of one sink of one job.

    A file is written as `.<name>.inprogress.<random>` and renamed to `<name>`. With compaction it is renamed to
    `.<name>.uncompacted`, and to `.<name>.compacted.<last>` when the file `compacted-...-<first>-<last>` contains its
    records. The latter is written as `.compacted-....inprogress.<random>`, then renamed to `.compacted-....ready`, then
    to its visible name.

    Attributes:
        begin: The beginning of all names, unique to the sink.
        suffix: The end of all names.
    """

    begin: str
    suffix: str

    def part(self, batch: int, subtask: int, number: int) -> str:
        """Return the name of a file written by a subtask in a batch."""
        return f"{self.begin}{batch}-{subtask}-{number}{self.suffix}"

    def compacted(self, first: int, last: int) -> str:
        """Return the name of a compacted file with the records of these batches."""
        return f"compacted-{self.begin}{first}-{last}{self.suffix}"

    def in_progress(self, name: str) -> str:
        """Return the name of a file that is being written."""
        return f".{name}.inprogress.{uuid.uuid4().hex}"

    def ready(self, compacted: str) -> str:
        """Return the name of a complete compacted file whose small files are not all marked yet."""
        return f".{compacted}.ready"

    def uncompacted(self, part: str) -> str:
        """Return the name of a small file that waits for compaction."""
        return f".{part}.uncompacted"

    def consumed(self, part: str, last: int) -> str:
        """Return the name of a small file whose records are in a compacted file."""
        return f".{part}.compacted.{last}"

    # ------------------------------------------------------------------ parsing names, with any suffix

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
        """Return the batch of a visible file without compaction; None if it is not this sink's."""
        found = self._patterns["part"].fullmatch(name)
        return int(found[1]) if found else None

    def small(self, name: str) -> Small | None:
        """Return the parsed name of a small file; None if it is not this sink's."""
        found = self._patterns["small"].fullmatch(name)
        if found is None:
            return None
        return Small(found[1], int(found[2]), None if found[3] is None else int(found[3]))

    def range_of(self, name: str) -> tuple[int, int] | None:
        """Return first and last batch of a visible compacted file; None if it is not this sink's."""
        found = self._patterns["compacted"].fullmatch(name)
        return (int(found[1]), int(found[2])) if found else None

    def range_of_ready(self, name: str) -> tuple[int, int] | None:
        """Return first and last batch of a compacted file that is not visible yet; None if it is not this sink's."""
        found = self._patterns["ready"].fullmatch(name)
        return (int(found[2]), int(found[3])) if found else None

    def is_in_progress(self, name: str) -> bool:
        """Return whether it is an unfinished file of this sink."""
        return self._patterns["in progress"].fullmatch(name) is not None
