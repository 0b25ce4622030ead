"""Changes of databases as sources of streams: MySqlSource, PostgresIncrementalSource, and their builders.

The names are those of Flink CDC's Java API, with methods as Python writes them.
"""

from __future__ import annotations

import re
from typing import Self

from scurry.common._api import ApiObject, made_by
from scurry.connectors.cdc.mysql.connection import need_client
from scurry.connectors.cdc.mysql.reading import MySqlCapture
from scurry.connectors.cdc.mysql.settings import MySqlSettings
from scurry.connectors.cdc.postgres.reading import PostgresCapture
from scurry.connectors.cdc.postgres.settings import PostgresSettings
from scurry.connectors.cdc.stream import CdcSource
from scurry.datastream.connectors._captures import (
    CaptureBuilder,
    JsonDebeziumDeserializationSchema,
    StartupOptions,
    any_of,
    at_least,
    listed,
)
from scurry.errors import ArgumentError

__all__ = [
    "JsonDebeziumDeserializationSchema",
    "MySqlSource",
    "MySqlSourceBuilder",
    "PostgresIncrementalSource",
    "PostgresSourceBuilder",
    "StartupOptions",
]


@made_by("builder")
class MySqlSource(ApiObject, CdcSource):
    """Read the rows of tables of MySQL or MariaDB, then every change to them, exactly once."""

    @staticmethod
    def builder() -> MySqlSourceBuilder:
        """Return a builder."""
        return MySqlSourceBuilder()


class MySqlSourceBuilder(CaptureBuilder):
    """Build a MySqlSource."""

    _port = 3306
    _modes = ("initial", "snapshot", "earliest-offset", "latest-offset", "specific-offset", "timestamp")

    def __init__(self) -> None:
        """Begin with Flink CDC's defaults."""
        super().__init__()
        self._databases: tuple[str, ...] = ()
        self._server_ids = (5400, 6400)

    def database_list(self, *database_list: str) -> Self:
        """Set the databases: regular expressions of Java. Tables of others are left out; without it none are."""
        self._databases = listed(database_list)
        return self

    def server_id(self, server_id: str) -> Self:
        """Set a number, or a range such as `5400-5408`, of which readers of the binlog take one each.

        Nobody else may use them.

        Raises:
            ArgumentError: It is no range of numbers.
        """
        first, _, last = server_id.partition("-")
        if not first.strip().isdecimal() or (last and not last.strip().isdecimal()):
            raise ArgumentError(f"The server id {server_id} is not a numeric.")
        self._server_ids = int(first), int(last or first)
        if self._server_ids[0] > self._server_ids[1]:
            raise ArgumentError(f"The server id range should be in ascending order: {server_id}")
        return self

    def server_time_zone(self, server_time_zone: str) -> Self:
        """Accept the time zone of the server, without effect: moments are written in UTC."""
        return self

    def build(self) -> MySqlSource:
        """Return the source.

        Raises:
            ArgumentError: Something is missing.
            ExtraMissingError: The client libraries are not installed.
        """
        self._check()
        need_client()
        within = rf"(?=(?:{any_of(self._databases)})\.)" if self._databases else ""
        values = self._values
        settings = MySqlSettings(
            values["hostname"],
            values["port"],
            values["username"],
            values["password"],
            f"{within}(?:{any_of(self._tables)})",
            f"table_list: {', '.join(self._tables)}",
            self._server_ids,
            self._startup,
            self._chunk_key,
            self._fetch_size,
            self._connect_seconds,
            self._retries,
        )
        return MySqlSource(MySqlCapture(settings), self._settings(), self._decoder("mysql", "mysql_binlog_source"))


@made_by("PostgresSourceBuilder.PostgresIncrementalSource.builder")
class PostgresIncrementalSource(ApiObject, CdcSource):
    """Read the rows of tables of PostgreSQL, then every change to them, exactly once."""

    @staticmethod
    def builder() -> PostgresSourceBuilder:
        """Return a builder."""
        return PostgresSourceBuilder()


_Incremental = PostgresIncrementalSource


class PostgresSourceBuilder(CaptureBuilder):
    """Build a PostgresIncrementalSource."""

    PostgresIncrementalSource = _Incremental

    _port = 5432
    _modes = ("initial", "snapshot", "latest-offset", "committed-offset")
    _properties_known = ("publication.name", "publication.autocreate.mode", "slot.drop.on.stop")
    _needed = ("hostname", "database", "username", "password", "table_list", "slot_name", "deserializer")

    def __init__(self) -> None:
        """Begin with Flink CDC's defaults."""
        super().__init__()
        self._schemas: tuple[str, ...] = ()
        self._partitioned, self._delay = False, 3

    def database(self, database: str) -> Self:
        """Set the database."""
        return self._with("database", database)

    def schema_list(self, *schema_list: str) -> Self:
        """Set the schemas: regular expressions of Java. Tables of others are left out; without it none are."""
        self._schemas = listed(schema_list)
        return self

    def slot_name(self, slot_name: str) -> Self:
        """Set the replication slot, of which each source needs one of its own; it is made if it is not there.

        Raises:
            ArgumentError: It is no name of a slot.
        """
        if not re.fullmatch("[a-z0-9_]{1,63}", slot_name):
            raise ArgumentError(f"slot_name({slot_name!r}): it has lower-case letters, numbers and underscores only")
        return self._with("slot_name", slot_name)

    def decoding_plugin_name(self, decoding_plugin_name: str) -> Self:
        """Accept the name of a plugin, without effect: it is pgoutput, which every server has."""
        return self

    def include_partitioned_tables(self, include_partitioned_tables: bool) -> Self:
        """Set whether partitioned tables are read by their root (False)."""
        self._partitioned = include_partitioned_tables
        return self

    def lsn_commit_checkpoints_delay(self, lsn_commit_checkpoints_delay: int) -> Self:
        """Set how many micro-batches later than committed the slot advances (3), at least 1."""
        self._delay = at_least(1, "lsn_commit_checkpoints_delay", lsn_commit_checkpoints_delay)
        return self

    def build(self) -> _Incremental:
        """Return the source.

        Raises:
            ArgumentError: Something is missing.
        """
        self._check()
        within = rf"(?=(?:{any_of(self._schemas)})\.)" if self._schemas else ""
        values, properties = self._values, self._properties
        slot = values["slot_name"]
        settings = PostgresSettings(
            values["hostname"],
            values["port"],
            values["username"],
            values["password"],
            values["database"],
            f"{within}(?:{any_of(self._tables)})",
            f"table_list: {', '.join(self._tables)}",
            f"{slot[:54]}_snapshot" if self._startup.ends else slot,
            properties.get("publication.name", "dbz_publication"),
            properties.get("publication.autocreate.mode", "filtered").lower() != "disabled",
            str(properties.get("slot.drop.on.stop", "false")).lower() == "true",
            self._startup,
            needs_before=False,
            chunk_rows=self._split_size,
            chunk_key=self._chunk_key,
            fetch_rows=self._fetch_size,
            connect_seconds=self._connect_seconds,
            retries=self._retries,
            partitioned=self._partitioned,
            gives_before=True,
        )
        decoder = self._decoder("postgresql", "postgres_cdc_source")
        return _Incremental(PostgresCapture(settings), self._settings(self._delay), decoder)
