"""What is kept of groups, and when they are forgotten."""

from __future__ import annotations

from typing import Any

from scurry.runtime.operators.keyed_rows import RowsContext

__all__ = ["KeptGroups"]

#: The slot of a group: its number of rows, what its aggregates and its views keep, and when it was written last.
_GROUP = "group"


class KeptGroups:
    """The groups in the state of their keys; with a TTL those that have no new rows are forgotten, without a change."""

    def __init__(self, ttl: int) -> None:
        """Take the milliseconds after which a group that has no new rows is forgotten; 0 for never."""
        self._ttl = ttl

    def of(self, key: Any, context: RowsContext) -> Any:
        """Return the group of a key, None if there is none."""
        group = context.select(key).get(_GROUP)
        if group is not None and self._ttl and group[3] + self._ttl <= context.processing_time:
            return None
        return group

    def keep(self, key: Any, group: tuple[Any, ...] | None, context: RowsContext) -> None:
        """Keep the group of a key, None if it is gone."""
        state = context.select(key)
        if group is None:
            state.pop(_GROUP, None)
            return
        now = context.processing_time if self._ttl else 0
        if self._ttl and _GROUP not in state:
            context.register_processing_timer(now + self._ttl)
        state[_GROUP] = (*group, now)

    def forget(self, time: int, context: RowsContext) -> None:
        """Forget the group of the current key if it has had no rows for so long; look again later if it has had."""
        group = context.state.get(_GROUP)
        if group is None:
            return
        if group[3] + self._ttl <= time:
            del context.state[_GROUP]
        else:
            context.register_processing_timer(group[3] + self._ttl)
