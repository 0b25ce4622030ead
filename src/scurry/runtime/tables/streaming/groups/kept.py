"""What is kept of groups, and when they are forgotten."""

from __future__ import annotations

import pickle
from typing import Any

from scurry.runtime.operators.keyed_rows import RowsContext
from scurry.runtime.tables.streaming.groups.pieces import EntryPieces, ValueCounts

__all__ = ["KeptGroups"]

#: The slot of a group: its number of rows, what its aggregates and its views keep, and when it was written last.
_GROUP = "group"
#: What the slots of pieces begin with that are not in the group.
_PIECES = "pieces"
#: Pieces are slots of their own if there are more than this.
_MOST_PIECES = 6


class KeptGroups:
    """The groups in the state of their keys; with a TTL those that have no new rows are forgotten, without a change.

    A group is bytes: a page of state has the groups of many keys, of which a micro-batch touches one.
    What an aggregate keeps as a dictionary are pieces, which leave the group when there are many.
    """

    def __init__(self, ttl: int) -> None:
        """Take the milliseconds after which a group that has no new rows is forgotten; 0 for never."""
        self._ttl = ttl

    def of(self, key: Any, context: RowsContext) -> Any:
        """Return the group of a key, None if there is none."""
        entry = context.select(key)
        if _GROUP not in entry:
            return None
        count, states, views, written = _decoded(entry[_GROUP])
        if self._ttl and written + self._ttl <= context.processing_time:
            return None
        return count, _loaded(states, entry, "state"), _loaded(views, entry, "view"), written

    def keep(self, key: Any, group: tuple[int, list[Any], list[Any]] | None, context: RowsContext) -> None:
        """Keep the group of a key, None if it is gone."""
        entry = context.select(key)
        if group is None:
            _drop(entry)
            return
        count, states, views = group
        if len(entry) > 1 and not any(isinstance(each, EntryPieces) for each in (*states, *views)):
            # A new group: there may be pieces of an earlier one.
            _drop_pieces(entry)
        now = context.processing_time if self._ttl else 0
        if self._ttl and _GROUP not in entry:
            context.register_processing_timer(now + self._ttl)
        found = count, _stored(states, entry, "state"), _stored(views, entry, "view"), now
        entry[_GROUP] = pickle.dumps(found, 5)

    def forget(self, time: int, context: RowsContext) -> None:
        """Forget the group of the current key if it has had no rows for so long; look again later if it has had."""
        if _GROUP not in context.state:
            return
        written = _decoded(context.state[_GROUP])[3]
        if written + self._ttl <= time:
            _drop(context.state)
        else:
            context.register_processing_timer(written + self._ttl)


def _decoded(group: Any) -> Any:
    if isinstance(group, bytes):
        return pickle.loads(group)
    # Earlier versions kept a tuple, in which a view was a dictionary.
    count, states, views, written = group
    return count, states, [ValueCounts.of(each) for each in views], written


def _loaded(kept: list[Any], entry: dict[Any, Any], kind: str) -> list[Any]:
    return [EntryPieces(entry, (_PIECES, kind, place)) if each is Ellipsis else each for place, each in enumerate(kept)]


def _stored(kept: list[Any], entry: dict[Any, Any], kind: str) -> list[Any]:
    """Return what the group has of pieces: all if they are few, an ellipsis in place of many."""
    stored = list(kept)
    for place, each in enumerate(kept):
        if isinstance(each, dict) and len(each) > _MOST_PIECES:
            EntryPieces(entry, (_PIECES, kind, place)).update(each)
            stored[place] = Ellipsis
        elif isinstance(each, EntryPieces):
            stored[place] = Ellipsis
    return stored


def _drop(entry: dict[Any, Any]) -> None:
    entry.pop(_GROUP, None)
    _drop_pieces(entry)


def _drop_pieces(entry: dict[Any, Any]) -> None:
    for slot in [slot for slot in entry if isinstance(slot, tuple) and slot[0] == _PIECES]:
        del entry[slot]
