"""Places: the positions up to which collections are read; JSON-able."""

from __future__ import annotations

import base64
from typing import Any, NamedTuple

from scurry._dataclasses import dataclass
from scurry.connectors.mongodb.client import library


class Change(NamedTuple):
    """A document that is there, or a change of one.

    Attributes:
        database: The database.
        collection: The collection.
        kind: A value of `RowKind`; None for a heartbeat, which only carries the position on.
        millis: When it changed, in milliseconds; 0 for a document that is there.
        document: The document in BSON; of one that is deleted its key.
    """

    database: str
    collection: str
    kind: int | None
    millis: int
    document: bytes


class Found(NamedTuple):
    """An element of a collection, with the position behind it.

    Attributes:
        place: The number of the collection.
        change: The document or the change; None for a change that leaves no row.
        token: The token of the change stream behind it, as `{"_id": token}` in BSON; None while documents are read.
        last: Whether no document follows it.
    """

    place: int
    change: Change | None
    token: bytes | None = None
    last: bool = False


@dataclass
class Place:
    """The position up to which a collection is read: its documents, then its changes.

    Attributes:
        database: The database.
        collection: The collection.
        reads_documents: Whether its documents are not all read.
        start: Seconds and counter of the time from which changes are read, while there is no token.
        last: The last document that was read, in BSON.
        token: The token behind the last change, as `{"_id": token}` in BSON.
    """

    database: str
    collection: str
    reads_documents: bool
    start: tuple[int, int]
    last: bytes | None = None
    token: bytes | None = None

    def passed(self, found: Found) -> None:
        """Go on behind an element."""
        if found.token is not None:
            self.token, self.reads_documents, self.last = found.token, False, None
        elif found.last:
            self.reads_documents, self.last = False, None
        elif found.change is not None:
            self.last = found.change.document

    def position(self) -> list[Any]:
        """Return it as JSON-able data."""
        bson = library("bson")
        last = None if self.last is None else bson.encode({"_id": bson.decode(self.last)["_id"]})
        texts = [None if each is None else base64.b64encode(each).decode() for each in (last, self.token)]
        return [self.database, self.collection, self.reads_documents, list(self.start), *texts]

    @classmethod
    def restored(cls, position: list[Any]) -> Place:
        """Return the place of a position."""
        database, collection, reads, start, *texts = position
        last, token = [None if each is None else base64.b64decode(each) for each in texts]
        return cls(database, collection, reads, (start[0], start[1]), last, token)
