"""The findings of `scurry check` in a program."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Level(StrEnum):
    """The weight of a finding."""

    #: The line fails here.
    ERROR = "error"
    #: The line runs, and something about it differs from Flink.
    NOTE = "note"
    #: The line is of another system, and has a counterpart.
    INSTEAD = "instead"


class Finding(NamedTuple):
    """A finding.

    Attributes:
        line: From 1.
        column: From 1.
        text: One sentence, with the hint behind it.
    """

    path: str
    line: int
    column: int
    level: Level
    text: str
