"""Documents of MongoDB as rows, and rows as writes of documents by their primary key."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common.types import RowKind
from scurry.connectors.mongodb.client import MongoSettings, collection_of, failure, is_passing, library
from scurry.connectors.mongodb.source import MongoSource
from scurry.connectors.mongodb.values import reader, writer
from scurry.errors import ValidationError
from scurry.sql.connectors.prepared import Prepared
from scurry.sql.formats.contract import FormatColumn, names_and_types

ID = "_id"


@dataclass(frozen=True)
class DocumentRows(Prepared):
    """Make tuples of documents; picklable."""

    columns: tuple[FormatColumn, ...]

    @cached_property
    def _readers(self) -> list[tuple[str, Callable[[Any], Any]]]:
        return [(column.name, reader(column.type)) for column in self.columns]

    def __call__(self, document: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the columns of a document; a field that it lacks is None."""
        return tuple(read(document.get(name)) for name, read in self._readers)


@dataclass(frozen=True)
class RowWrites(Prepared):
    """Make writes of Rows; picklable.

    Attributes:
        key: Those of the primary key; none to insert each row.
    """

    columns: tuple[FormatColumn, ...]
    key: tuple[str, ...]

    @cached_property
    def _writers(self) -> list[tuple[str, Callable[[Any], Any]]]:
        return [(column.name, writer(column.type)) for column in self.columns]

    def __call__(self, row: Any) -> Any:
        pymongo = library("pymongo")
        values = zip(self._writers, row, strict=True)
        document = {name: write(value) for (name, write), value in values}
        if not self.key:
            return pymongo.InsertOne(document)
        identity = self._identity(document)
        if row.get_row_kind() in (RowKind.DELETE, RowKind.UPDATE_BEFORE):
            return pymongo.DeleteOne({ID: identity})
        document.pop(ID, None)  # an id does not change
        if not document:
            return pymongo.UpdateOne({ID: identity}, {"$setOnInsert": {ID: identity}}, upsert=True)
        return pymongo.UpdateOne({ID: identity}, {"$set": document}, upsert=True)

    def _identity(self, document: Mapping[str, Any]) -> Any:
        if len(self.key) > 1:
            return {name: document[name] for name in self.key}
        return identity_of(document[self.key[0]])


def identity_of(value: Any) -> Any:
    """Return the id that a value is: a text that has the form of an ObjectId is one, as in Flink."""
    object_id = library("bson").ObjectId
    return object_id(value) if isinstance(value, str) and object_id.is_valid(value) else value


def check_key(columns: Sequence[FormatColumn], key: Sequence[str]) -> None:
    """Check a primary key.

    Raises:
        ValidationError: There is a column `_id` that is not the key.
    """
    if key and ID in names_and_types(columns)[0] and tuple(key) != (ID,):
        raise ValidationError(
            f"a column '{ID}' is the id of documents: declare PRIMARY KEY ({ID}), or leave the column out"
        )


@dataclass(frozen=True)
class DocumentFinder(Prepared):
    """Look up documents by the values of fields.

    Attributes:
        settings: The collection.
        keys: Those that are looked up by.
        max_retries: Number of retries while no server answers.
        retry_interval: Seconds before each of them.
    """

    settings: MongoSettings
    columns: tuple[FormatColumn, ...]
    keys: tuple[FormatColumn, ...]
    max_retries: int
    retry_interval: float

    @cached_property
    def _writers(self) -> dict[str, Callable[[Any], Any]]:
        return {column.name: writer(column.type) for column in self.keys}

    @cached_property
    def _rows(self) -> DocumentRows:
        return DocumentRows(self.columns)

    def find(self, key: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
        """Return the rows with some values."""
        condition: dict[str, Any] = {}
        for name, value in key.items():
            written = self._writers[name](value)
            identity = identity_of(written) if name == ID else written
            condition[name] = written if identity is written else {"$in": [identity, written]}
        for retry in range(self.max_retries + 1):
            try:
                return map(self._rows, list(collection_of(self.settings).find(condition)))
            except library("pymongo.errors").PyMongoError as error:
                if not is_passing(error) or retry == self.max_retries:
                    raise failure(self.settings, error, is_sink=False) from None
            time.sleep(self.retry_interval)
        raise AssertionError("the last try returns or raises")


def source_of(source: MongoSource, columns: Sequence[FormatColumn]) -> MongoSource:
    """Return a source of tuples of some columns."""
    names = names_and_types(columns)[0]
    return replace(source, convert=DocumentRows(tuple(columns)), fields=tuple(names) if names else None)
