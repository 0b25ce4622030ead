"""DeltaTableLog: reads the versions and files of a Delta table from its log."""

from __future__ import annotations

import datetime
import json
import posixpath
import re
from typing import Any
from urllib.parse import unquote

from scurry._dataclasses import dataclass
from scurry.common._optional import optional_module
from scurry.connectors.files.filesystem import LocalFileSystem, file_system
from scurry.connectors.files.storage_errors import reaching
from scurry.connectors.lakes.columns import row_of
from scurry.connectors.lakes.enumerator import OpenedTable, TableFile, TableLog
from scurry.errors import SourceConnectionError, SourceNotFoundError, UnsupportedError
from scurry.sql.types.nested_types import RowType

#: Supported reader features; all others change the meaning of the files.
_READER_FEATURES = {"timestampNtz", "v2Checkpoint", "vacuumProtocolCheck"}
_COLUMN_MAPPING_VERSION = 2
_COMMIT = re.compile(r"(\d{20})\.json")


@dataclass(frozen=True)
class DeltaRange:
    """The versions of a table to read.

    Attributes:
        version: The version to read or to start from; None for the newest, or that of `timestamp_ms`.
        timestamp_ms: Selects the last version at this time instead, in milliseconds.
        changes_only: Whether to read only what versions from `version` on add, without the table's earlier content.
        ignore_deletes: Whether to skip versions that only delete.
        ignore_changes: Whether to accept versions that rewrite files, and read the rewritten files as new.
    """

    version: int | None = None
    timestamp_ms: int | None = None
    changes_only: bool = False
    ignore_deletes: bool = False
    ignore_changes: bool = False


def open_table(path: str, version: int | None = None) -> Any:
    """Return the `deltalake.DeltaTable`.

    Raises:
        SourceNotFoundError: The path has no Delta table, or the table has no such version.
        UnsupportedError: The table uses features that are not supported.
    """
    module = deltalake()
    try:
        with reaching(path):
            table = module.DeltaTable(address(path), version=version)
    except module.exceptions.TableNotFoundError:
        raise SourceNotFoundError(f"there is no Delta table at {path}; check the path") from None
    except module.exceptions.DeltaError as error:
        if version is None:
            raise
        raise SourceNotFoundError(f"the Delta table {path} has no version {version}: {error}") from None
    protocol = table.protocol()
    features = set(protocol.reader_features or ())
    if protocol.min_reader_version == _COLUMN_MAPPING_VERSION:
        features.add("columnMapping")
    for feature in sorted(features - _READER_FEATURES):
        raise UnsupportedError(
            f"the Delta table {path} has the feature {feature}, with which its files cannot be read as they are; read "
            "it with another engine, or switch the feature off (ALTER TABLE ... DROP FEATURE)"
        )
    return table


def address(path: str) -> str:
    """Return the absolute path or address of a table, for delta-rs."""
    fs, inner = file_system(path)
    return inner if isinstance(fs, LocalFileSystem) else path


def columns_of(table: Any) -> RowType:
    """Return the columns of a table as a row type."""
    import pyarrow as pa

    return row_of(pa.schema(table.schema().to_arrow()))


class DeltaTableLog(TableLog):
    """Read the files of a version, and those that later versions add."""

    def __init__(self, path: str, what: DeltaRange, opened: OpenedTable | None = None) -> None:
        """Open the table.

        Args:
            path: The table's path or address.
            what: The versions to read.
            opened: The table, where it was opened already.

        Raises:
            SourceNotFoundError: The path has no Delta table, or the table has no such version.
        """
        self._path = path
        self._what = what
        self._fs, self._base = file_system(path)
        self._log = posixpath.join(self._base, "_delta_log")
        table = None if opened is None else opened.take()
        self._opened = OpenedTable(open_table(path) if table is None else table)

    def start(self) -> tuple[Any, list[TableFile]]:
        """Return the version to start from and its files, or with `changes_only` the files added from it on."""
        what = self._what
        if what.changes_only:
            if what.version is None:
                return self._table().version(), []
            self._table()
            return self.after(what.version - 1)
        table = self._table()
        return table.version(), _files(table)

    def _table(self) -> Any:
        """Return the table at the version to start from."""
        version, timestamp_ms, table = self._what.version, self._what.timestamp_ms, self._opened.take()
        if table is None or version not in (None, table.version()):
            table = open_table(self._path, version)
        if version is None and timestamp_ms is not None:
            table.load_as_version(datetime.datetime.fromtimestamp(timestamp_ms / 1000, datetime.UTC))
        return table

    def after(self, version: Any) -> tuple[Any, list[TableFile]]:
        """Return the newest version, and the files added after `version`."""
        self._opened.take()  # needed at the start only
        found: list[TableFile] = []
        commits = {int(match[1]) for name, _ in self._fs.entries(self._log) if (match := _COMMIT.fullmatch(name))}
        newest = max(commits, default=version)
        for number in range(version + 1, newest + 1):
            if number not in commits:
                raise SourceConnectionError(
                    f"version {number} of the Delta table {self._path} is no longer in its log: the log was cleaned "
                    "up before the job has read it; start with an empty checkpoint directory, and raise "
                    "delta.logRetentionDuration"
                )
            found += self._added(number)
        return max(newest, version), found

    def _added(self, version: int) -> list[TableFile]:
        with self._fs.open_input(posixpath.join(self._log, f"{version:020d}.json")) as file:
            actions = [json.loads(line) for line in file.read().splitlines() if line.strip()]
        added = [action["add"] for action in actions if "add" in action and action["add"]["dataChange"]]
        removed = [action["remove"] for action in actions if "remove" in action and action["remove"]["dataChange"]]
        if removed and not (self._what.ignore_changes or (self._what.ignore_deletes and not added)):
            did, say = ("rewritten", "ignore_changes") if added else ("deleted", "ignore_deletes")
            raise UnsupportedError(
                f"version {version} of the Delta table {self._path} has {did} records that may have been read; "
                f"{say}(True) continues regardless"
            )
        return [_file(add["path"], add["size"], add["partitionValues"], add.get("deletionVector")) for add in added]


def _files(table: Any) -> list[TableFile]:
    """Return the files of a version, the oldest first."""
    import pyarrow as pa

    rows = pa.table(table.get_add_actions()).to_pylist()
    rows.sort(key=lambda row: (row["modification_time"], row["path"]))
    return [_file(row["path"], row["size_bytes"], _partition(row), None) for row in rows]


def _partition(row: dict[str, Any]) -> dict[str, str | None]:
    return {name: _partition_text(value) for name, value in (row.get("partition") or {}).items()}


def _partition_text(value: Any) -> str | None:
    """Return a partition value in the format of the log."""
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime.datetime):
        return value.astimezone(datetime.UTC).isoformat() if value.tzinfo else value.isoformat(" ")
    return str(value)


def _file(path: str, size: int, partition_values: dict[str, Any], deletion_vector: Any) -> TableFile:
    if deletion_vector is not None:
        raise UnsupportedError(
            f"{path} has a deletion vector, which is not read here; rewrite the table (REORG ... PURGE)"
        )
    return TableFile(unquote(path), size, partition_values)


def deltalake() -> Any:
    """Return the module `deltalake` (delta-rs).

    Raises:
        ExtraMissingError: It is not installed.
    """
    return optional_module(
        "Delta Lake", "deltalake", "delta", "deltalake", "deltalake.exceptions", "deltalake.transaction"
    )
