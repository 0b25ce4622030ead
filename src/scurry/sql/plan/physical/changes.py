"""Nodes that change the changelog mode of rows, or repeat them for set operations with ALL."""

from __future__ import annotations

from functools import cached_property

from scurry._dataclasses import dataclass
from scurry.sql.plan.nodes import OneInput
from scurry.sql.plan.schema import Column, Schema


@dataclass(frozen=True)
class ChangelogNormalize(OneInput):
    """Changes that replace each other by key, as changes of which each is an insert, an update or a deletion.

    Attributes:
        key: Positions of the columns of the key.
    """

    key: tuple[int, ...]


@dataclass(frozen=True)
class ReplicateRows(OneInput):
    """Each row as many times as its last column says, without that column.

    Attributes:
        is_explained: Whether it is for EXPLAIN: the number comes first, the columns of the rows again at the end.
    """

    is_explained: bool = False

    @cached_property
    def schema(self) -> Schema:
        if self.is_explained:
            own = self.input.schema.columns[1:]
            return self.input.schema + Schema(tuple(Column(f"{each.name}0", each.type) for each in own))
        return self.input.schema.select(range(len(self.input.schema) - 1))
