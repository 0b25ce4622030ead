"""Common parts of the builders of sources of changes: the begin of reading, records, chunks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Self

from scurry.common._api import ApiObject, made_by
from scurry.common.time import TimeAmount, to_millis
from scurry.connectors.cdc.capture import Startup
from scurry.connectors.cdc.debezium_json import DebeziumJson, Decimals
from scurry.connectors.cdc.enumerator import EnumeratorSettings
from scurry.errors import ArgumentError, UnsupportedError

_DECIMALS: dict[str, Decimals] = {"base64": "base64", "numeric": "numeric"}
_HANDLING: dict[str, Decimals] = {"precise": "base64", "string": "string"}
_HANDLING_KEY = "decimal.handling.mode"


class JsonDebeziumDeserializationSchema(ApiObject):
    """Make a text of JSON of every row and every change, with the fields and values that Debezium gives them."""

    def __init__(self, include_schema: bool = False, custom_converter_configs: Mapping[str, str] | None = None) -> None:
        """Create a schema.

        Args:
            include_schema: True is refused: records come without the schema of their tables.
            custom_converter_configs: `decimal.format`: `base64`, the default, or `numeric`.

        Raises:
            UnsupportedError: Records are to have the schema of their tables.
            ArgumentError: There is no such setting.
        """
        if include_schema:
            raise UnsupportedError("records come without the schema of their tables: leave out include_schema")
        settings = dict(custom_converter_configs or {})
        wanted = str(settings.pop("decimal.format", "base64")).lower()
        if settings or wanted not in _DECIMALS:
            raise ArgumentError(
                f"custom_converter_configs has decimal.format, base64 or numeric, got {settings or wanted}"
            )
        self.decimals: Decimals = _DECIMALS[wanted]


@made_by("initial")
class StartupOptions(ApiObject):
    """The begin of reading."""

    def __init__(self, startup: Startup) -> None:
        """Wrap a begin of reading; programs call the methods below."""
        self.startup = startup

    @staticmethod
    def initial() -> StartupOptions:
        """Read the rows of the tables, then the changes."""
        return StartupOptions(Startup("initial"))

    @staticmethod
    def snapshot() -> StartupOptions:
        """Read the rows of the tables, and end."""
        return StartupOptions(Startup("snapshot"))

    @staticmethod
    def earliest() -> StartupOptions:
        """Read changes from the begin of the binlog; MySQL only."""
        return StartupOptions(Startup("earliest-offset"))

    @staticmethod
    def latest() -> StartupOptions:
        """Read the changes from now on."""
        return StartupOptions(Startup("latest-offset"))

    @staticmethod
    def committed() -> StartupOptions:
        """Read changes from where the replication slot is; PostgreSQL only."""
        return StartupOptions(Startup("committed-offset"))

    @staticmethod
    def specific_offset(file_or_gtid: str, position: int | None = None) -> StartupOptions:
        """Read changes from a position of the binlog; MySQL only.

        Args:
            file_or_gtid: A file of the binlog; without a position the GTID of MariaDB behind which reading begins.
            position: The place in the file.
        """
        where = file_or_gtid if position is None else [file_or_gtid, position]
        return StartupOptions(Startup("specific-offset", where))

    @staticmethod
    def timestamp(startup_timestamp_millis: int) -> StartupOptions:
        """Read the changes since a time, in milliseconds since 1970; MySQL only."""
        return StartupOptions(Startup("timestamp", timestamp=startup_timestamp_millis))


class CaptureBuilder(ApiObject):
    """Common settings of all databases."""

    _port = 0
    _modes: tuple[str, ...] = ()
    _properties_known: tuple[str, ...] = ()
    #: The methods that have to be called.
    _needed: tuple[str, ...] = ("hostname", "username", "password", "table_list", "deserializer")

    def __init__(self) -> None:
        """Begin with Flink CDC's defaults."""
        self._values: dict[str, Any] = {"port": self._port}
        self._tables: tuple[str, ...] = ()
        self._startup = Startup()
        self._split_size, self._fetch_size = 8096, 1024
        self._connect_seconds, self._retries = 30, 3
        self._chunk_key: str | None = None
        self._adds_tables = False
        self._schema: JsonDebeziumDeserializationSchema | None = None
        self._properties: dict[str, str] = {}

    def hostname(self, hostname: str) -> Self:
        """Set the server."""
        return self._with("hostname", hostname)

    def port(self, port: int) -> Self:
        """Set the server's port."""
        return self._with("port", port)

    def username(self, username: str) -> Self:
        """Set the user."""
        return self._with("username", username)

    def password(self, password: str) -> Self:
        """Set the user's password."""
        return self._with("password", password)

    def table_list(self, *table_list: str) -> Self:
        """Set the tables: regular expressions of Java for whole names, `database.table` or `schema.table`."""
        self._tables = listed(table_list)
        return self

    def startup_options(self, startup_options: StartupOptions) -> Self:
        """Set the begin of reading; by default the rows of the tables.

        Raises:
            ArgumentError: The database has no such position.
        """
        if startup_options.startup.mode not in self._modes:
            raise ArgumentError(
                f"this database cannot begin at {startup_options.startup.mode}; it can at {', '.join(self._modes)}"
            )
        self._startup = startup_options.startup
        return self

    def deserializer(self, deserializer: JsonDebeziumDeserializationSchema) -> Self:
        """Set the schema that makes records of rows and changes.

        Raises:
            UnsupportedError: It is not a JsonDebeziumDeserializationSchema.
        """
        if not isinstance(deserializer, JsonDebeziumDeserializationSchema):
            raise UnsupportedError(
                f"deserializer(...) takes a JsonDebeziumDeserializationSchema, not a {type(deserializer).__name__}"
            ).with_hint("read its texts with json.loads in a map")
        self._schema = deserializer
        return self

    def split_size(self, split_size: int) -> Self:
        """Set the rows of a chunk of a table (8096), which is read at once."""
        self._split_size = at_least(2, "split_size", split_size)
        return self

    def fetch_size(self, fetch_size: int) -> Self:
        """Set the rows that a reader of a chunk holds (1024)."""
        self._fetch_size = at_least(2, "fetch_size", fetch_size)
        return self

    def chunk_key_column(self, chunk_key_column: str) -> Self:
        """Set the column by whose ranges tables are read; by default the first one of the primary key."""
        self._chunk_key = chunk_key_column
        return self

    def connect_timeout(self, connect_timeout: TimeAmount) -> Self:
        """Set how long the server may take to accept a connection (30 s)."""
        self._connect_seconds = max(1, to_millis(connect_timeout) // 1000)
        return self

    def connect_max_retries(self, connect_max_retries: int) -> Self:
        """Set how often the driver makes a lost connection again (3), after 0, 1, 2 ... s."""
        self._retries = at_least(1, "connect_max_retries", connect_max_retries)
        return self

    def scan_newly_added_table_enabled(self, scan_newly_added_table_enabled: bool) -> Self:
        """Set whether a job that is started again reads tables that match since, their rows first (False)."""
        self._adds_tables = scan_newly_added_table_enabled
        return self

    def include_schema_changes(self, include_schema_changes: bool) -> Self:
        """Accept False only: records have the columns that their table had then, and DDL makes none.

        Raises:
            UnsupportedError: It is True.
        """
        if include_schema_changes:
            raise UnsupportedError(
                "include_schema_changes(True): there are no records of DDL; records have the columns of their time"
            )
        return self

    def debezium_properties(self, properties: Mapping[str, str]) -> Self:
        """Set properties of Debezium that have an effect here: `decimal.handling.mode` is `precise` or `string`.

        Args:
            properties: The properties. Of PostgreSQL also `publication.name`, `publication.autocreate.mode` and
                `slot.drop.on.stop`.

        Raises:
            UnsupportedError: A property has no effect here.
        """
        unknown = sorted(set(properties) - {_HANDLING_KEY, *self._properties_known})
        if unknown:
            raise UnsupportedError(
                f"'{unknown[0]}' is a property of Debezium, which does not run here; there are "
                f"{', '.join(sorted({_HANDLING_KEY, *self._properties_known}))}"
            )
        self._properties = dict(properties)
        return self

    def _with(self, name: str, value: Any) -> Self:
        self._values[name] = value
        return self

    def _check(self) -> None:
        there = {**self._values, "table_list": self._tables, "deserializer": self._schema}
        missing = [name for name in self._needed if not there.get(name) and name != "password"]
        if "password" not in there:
            missing.append("password")
        if missing:
            raise ArgumentError(f"a source needs {', '.join(f'{name}(...)' for name in missing)}")

    def _decoder(self, connector: str, name: str) -> DebeziumJson:
        assert self._schema is not None, "_check has been called"
        decimals = self._schema.decimals
        mode = str(self._properties.get(_HANDLING_KEY, "")).lower()
        if mode and mode not in _HANDLING:
            raise ArgumentError(f"{_HANDLING_KEY} is {' or '.join(_HANDLING)}, got {mode!r}")
        return DebeziumJson(connector, name, "string" if mode == "string" else decimals)

    def _settings(self, release_delay: int = 3) -> EnumeratorSettings:
        return EnumeratorSettings(1, self._startup, self._split_size, release_delay, self._adds_tables, True)


def listed(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of lists that commas may separate, too, as Debezium takes them."""
    return tuple(part.strip() for name in names for part in re.split(r"(?<!\\),(?![^{]*})", name) if part.strip())


def at_least(least: int, name: str, value: int) -> int:
    if value < least:
        raise ArgumentError(f"{name}({value}): it is at least {least}")
    return value


def any_of(patterns: tuple[str, ...]) -> str:
    return "|".join(f"(?:{pattern})" for pattern in patterns)
