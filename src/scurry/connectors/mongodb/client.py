"""Connections to MongoDB, and its errors as scurry's."""

from __future__ import annotations

import functools
from dataclasses import field
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common._optional import optional_module
from scurry.common.redaction import without_secrets
from scurry.errors import (
    ArgumentError,
    ConnectorError,
    SinkConnectionError,
    SourceConnectionError,
)

#: Milliseconds in which a server is found, unless the URI says so.
SELECTION_TIMEOUT_MS = 4000
#: Codes of servers that refuse the user, or a request of the user.
_REFUSED = {13, 18}


@dataclass(frozen=True)
class MongoSettings:
    """A collection.

    Attributes:
        uri: The connection string, `mongodb://host:27017`, with user, password and options.
        database: The database.
        collection: The collection.
        address: The option that has the address, for messages.
        login: The options that have user and password, for messages.
    """

    uri: str = field(repr=False)
    database: str
    collection: str
    address: str = "'uri'"
    login: str = "user, password and rights in 'uri'"

    def __post_init__(self) -> None:
        """Check the connection string, as far as that needs no server.

        Raises:
            ArgumentError: It is none.
        """
        if not self.uri.startswith(("mongodb://", "mongodb+srv://")):
            raise ArgumentError(
                f"{without_secrets(self.uri)!r} is no connection string of MongoDB: mongodb://host:27017"
            )
        for name, value in (("database", self.database), ("collection", self.collection)):
            if not value:
                raise ArgumentError(f"a {name} has a name")


def library(name: str) -> Any:
    """Return a module of the client: `pymongo` or `bson`, or one below.

    Raises:
        ExtraMissingError: It is not installed.
    """
    return optional_module("MongoDB", "pymongo", "mongodb", name)


@functools.lru_cache(maxsize=16)
def _client(uri: str) -> Any:
    pymongo = library("pymongo")
    timeout = {} if "serverselectiontimeoutms" in uri.lower() else {"serverSelectionTimeoutMS": SELECTION_TIMEOUT_MS}
    try:
        return pymongo.MongoClient(uri, tz_aware=False, appname="scurry", **timeout)
    except (pymongo.errors.PyMongoError, ValueError) as error:
        raise ArgumentError(f"the connection string of MongoDB is refused: {without_secrets(str(error))}") from None


def collection_of(settings: MongoSettings) -> Any:
    """Return a collection; clients are shared in a process, and connect with the first request.

    Raises:
        ArgumentError: The client refuses the connection string.
        ExtraMissingError: pymongo is not installed.
    """
    return database_of(settings)[settings.collection]


def database_of(settings: MongoSettings) -> Any:
    """Return the database of a collection, as `collection_of` does."""
    return _client(settings.uri)[settings.database]


def is_passing(error: Exception) -> bool:
    """Return whether a request may succeed when it is sent again."""
    errors = library("pymongo.errors")
    return isinstance(error, errors.ConnectionFailure)


def failure(settings: MongoSettings, error: Exception, is_sink: bool) -> ConnectorError:
    """Return scurry's error for one of the client."""
    errors, kind = library("pymongo.errors"), SinkConnectionError if is_sink else SourceConnectionError
    text = without_secrets(str(error).partition(", Timeout:")[0])
    if isinstance(error, errors.ConnectionFailure):
        return kind(f"no server of MongoDB answers at {settings.address} ({text}): check the address, and that it runs")
    if isinstance(error, errors.OperationFailure) and error.code in _REFUSED:
        return kind(f"MongoDB refuses the user ({text}): check {settings.login}")
    return kind(f"MongoDB refuses a request for {settings.database}.{settings.collection}: {text}")
