"""Nodes that change the changelog mode of rows."""

from __future__ import annotations

from dataclasses import dataclass

from scurry.sql.plan.nodes import OneInput


@dataclass(frozen=True)
class ChangelogNormalize(OneInput):
    """Changes that replace each other by key, as changes of which each is an insert, an update or a deletion.

    Attributes:
        key: Positions of the columns of the key.
    """

    key: tuple[int, ...]
