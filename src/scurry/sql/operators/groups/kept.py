"""Group state and its expiry."""

from __future__ import annotations

import pickle
from typing import Any, TypeAlias

from scurry.runtime.operators.rows import RowsContext
from scurry.sql.operators.aggregation.pieces import EntryPieces, LoadedPieces
from scurry.sql.operators.expiry import StateTtl

#: Its number of rows, the state of its aggregates and views, and the time of the last write.
Group: TypeAlias = "tuple[int, list[Any], list[Any], int]"

#: The slot of a group.
_GROUP = "group"
#: Prefix of the slots of pieces that are stored apart from the group.
_PIECES = "pieces"
#: Pieces are slots of their own if there are more than this.
_MOST_PIECES = 6


class KeptGroups:
    """The groups in the state of their keys; with a TTL those that have no new rows are forgotten, without a change.

    A group is bytes: a page of state has the groups of many keys, of which a micro-batch touches one.
    Those that it has touched are in memory until it ends: all its rows are decoded and encoded into a group once.
    What an aggregate keeps as a dictionary are pieces, which leave the group when there are many.
    """

    def __init__(self, ttl: int) -> None:
        self._ttl = StateTtl(ttl)
        self.open()

    def open(self) -> None:
        """Begin without groups in memory."""
        self._touched: dict[Any, Group | None] = {}
        self._changed: set[Any] = set()

    def of(self, key: Any, context: RowsContext) -> Group | None:
        """Return the group of a key, or None."""
        group = self._found(key, context)
        return None if group is not None and self._ttl.has_expired(group[3], context.processing_time) else group

    def keep(self, key: Any, group: tuple[int, list[Any], list[Any]] | None, context: RowsContext) -> None:
        """Keep the group of a key, None if it is gone."""
        self._touched[key] = None if group is None else (*group, self._ttl.now(context))
        self._changed.add(key)

    def forget(self, time: int, context: RowsContext) -> None:
        """Forget the group of the current key if it has had no rows for so long; look again later if it has had."""
        key = context.key
        group = self._found(key, context)
        if group is not None and self._ttl.is_over(group[3], time, context):
            self.keep(key, None, context)

    def write_back(self, context: RowsContext) -> None:
        """Move the changes to the state of their keys."""
        for key in self._changed:
            entry, group = context.select(key), self._touched[key]
            if group is None:
                _drop(entry)
                continue
            count, states, views, written = group
            if _GROUP not in entry:
                self._ttl.register(written, context)
            states, views = [_saved(each) for each in states], [_saved(each) for each in views]
            if len(entry) > 1 and not any(isinstance(each, EntryPieces) for each in (*states, *views)):
                # A new group: there may be pieces of an earlier one.
                _drop_pieces(entry)
            found = count, _stored(states, entry, "state"), _stored(views, entry, "view"), written
            entry[_GROUP] = pickle.dumps(found, 5)
        self.open()

    def _found(self, key: Any, context: RowsContext) -> Group | None:
        if key not in self._touched:
            self._touched[key] = decoded(context.select(key))
        return self._touched[key]


def decoded(entry: dict[Any, Any]) -> Group | None:
    """Return the group in the state of a key, or None."""
    if _GROUP not in entry:
        return None
    count, states, views, written = pickle.loads(entry[_GROUP])
    return count, _loaded(states, entry, "state"), _loaded(views, entry, "view"), written


def _loaded(kept: list[Any], entry: dict[Any, Any], kind: str) -> list[Any]:
    return [EntryPieces(entry, (_PIECES, kind, place)) if each is Ellipsis else each for place, each in enumerate(kept)]


def _saved(kept: Any) -> Any:
    return kept.save() if isinstance(kept, LoadedPieces) else kept


def _stored(kept: list[Any], entry: dict[Any, Any], kind: str) -> list[Any]:
    """Return the group's entries of pieces: all if they are few, an ellipsis in place of many."""
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
