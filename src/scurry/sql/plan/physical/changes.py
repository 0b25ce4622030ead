"""Nodes that change the changelog mode of rows, or repeat them for set operations with ALL."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from scurry.sql.plan.nodes import OneInput
from scurry.sql.plan.schema import Schema


@dataclass(frozen=True)
class ChangelogNormalize(OneInput):
    """Changes that replace each other by key, as changes of which each is an insert, an update or a deletion.

    Attributes:
        key: Positions of the columns of the key.
    """

    key: tuple[int, ...]


@dataclass(frozen=True)
class ReplicateRows(OneInput):
    """Each row as many times as its last column says, without that column."""

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema.select(range(len(self.input.schema) - 1))
