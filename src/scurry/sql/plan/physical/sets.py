"""The node that repeats rows, for set operations with ALL."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from scurry.sql.plan.nodes import OneInput
from scurry.sql.plan.schema import Schema


@dataclass(frozen=True)
class ReplicateRows(OneInput):
    """Each row as many times as its last column says, without that column."""

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema.select(range(len(self.input.schema) - 1))
