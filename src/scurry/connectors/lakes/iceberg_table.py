"""IcebergTable: the address of an Iceberg table; IcebergLog: the files of its snapshots."""

from __future__ import annotations

import base64
import pickle
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common._optional import optional_module
from scurry.connectors.lakes.columns import row_of
from scurry.connectors.lakes.enumerator import OpenedTable, TableFile, TableLog
from scurry.errors import ArgumentError, ExtraMissingError, SourceConnectionError, SourceNotFoundError
from scurry.sql.types.nested_types import RowType

#: The version of a table before its first snapshot.
_NO_SNAPSHOT = 0


def pyiceberg() -> Any:
    """Return the module `pyiceberg`.

    Raises:
        ExtraMissingError: It is not installed.
    """
    return optional_module("Iceberg", "pyiceberg", "iceberg", "pyiceberg", "pyiceberg.catalog", "pyiceberg.exceptions")


@dataclass(frozen=True)
class IcebergTable:
    """A table of a catalog. Picklable; every process loads it from the catalog.

    Attributes:
        identifier: Its name, such as db.table.
        properties: The catalog's properties for pyiceberg: type, uri, warehouse, ... Never shown, because they contain
            credentials.
        catalog_name: The catalog's name, under which pyiceberg's configuration file may have properties.
    """

    identifier: str
    properties: Mapping[str, str] = field(default_factory=dict, repr=False)
    catalog_name: str = "default"

    def catalog(self) -> Any:
        """Return the catalog.

        Raises:
            ArgumentError: The properties do not describe a catalog.
            ExtraMissingError: The package pyiceberg, or one for this type of catalog, is missing.
        """
        module = pyiceberg()
        try:
            return module.catalog.load_catalog(self.catalog_name, **self.properties)
        except module.exceptions.NotInstalledError as error:
            raise ExtraMissingError(
                f"the Iceberg catalog {self.catalog_name!r} needs another package: {error}"
            ) from None
        except (ValueError, TypeError) as error:
            raise ArgumentError(
                f"the Iceberg catalog {self.catalog_name!r} cannot be opened with the properties "
                f"{', '.join(sorted(self.properties)) or '(none)'}: {error}"
            ) from None
        except Exception as error:  # each kind of catalog has its own exceptions
            raise self._unreachable(error) from None

    def load(self) -> Any:
        """Return the current `pyiceberg.table.Table`.

        Raises:
            SourceNotFoundError: The table does not exist.
            SourceConnectionError: The catalog does not answer.
        """
        exceptions = pyiceberg().exceptions
        catalog = self.catalog()
        try:
            return catalog.load_table(self.identifier)
        except (exceptions.NoSuchTableError, exceptions.NoSuchNamespaceError):
            raise SourceNotFoundError(
                f"there is no Iceberg table {self.identifier} in the catalog {self.catalog_name!r}; check its name"
            ) from None
        except Exception as error:  # each kind of catalog has its own exceptions
            raise self._unreachable(error) from None

    def at(self, snapshot: int | None) -> Any:
        """Return the current table, which has a snapshot.

        Raises:
            SourceNotFoundError: The table or the snapshot does not exist.
            SourceConnectionError: The catalog does not answer.
        """
        loaded = self.load()
        if snapshot is not None and loaded.snapshot_by_id(snapshot) is None:
            raise SourceNotFoundError(f"the Iceberg table {self.identifier} has no snapshot {snapshot}")
        return loaded

    def _unreachable(self, error: Exception) -> SourceConnectionError:
        return SourceConnectionError(
            f"the Iceberg catalog {self.catalog_name!r} cannot be queried for {self.identifier}: "
            f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        )


def newest_snapshot(table: Any) -> int:
    """Return the identifier of the newest snapshot of a table; 0 if it has none."""
    current = table.current_snapshot()
    return _NO_SNAPSHOT if current is None else int(current.snapshot_id)


def columns_of(table: Any) -> RowType:
    """Return the columns of a table as a row type."""
    return row_of(table.schema().as_arrow())


class IcebergLog(TableLog):
    """Read the files of a table's snapshots."""

    def __init__(
        self, table: IcebergTable, snapshot: int | None, changes_only: bool, opened: OpenedTable | None = None
    ) -> None:
        """Create the log of a table.

        Args:
            table: The table.
            snapshot: The snapshot to read or to start from; None for the newest.
            changes_only: Whether to read only what is appended after the snapshot.
            opened: The table, where it was loaded already.
        """
        self._table = table
        self._snapshot = snapshot
        self._changes_only = changes_only
        self._opened = opened or OpenedTable()

    def start(self) -> tuple[Any, list[TableFile]]:
        """Return the snapshot to start from, and its files."""
        table = self._opened.take() or self._table.load()
        current = table.current_snapshot()
        if self._snapshot is None and current is None:
            return _NO_SNAPSHOT, []
        snapshot = current.snapshot_id if self._snapshot is None else self._snapshot
        if self._changes_only:
            return snapshot, []
        return snapshot, _files(table, table.scan(snapshot_id=snapshot).plan_files())

    def after(self, version: Any) -> tuple[Any, list[TableFile]]:
        """Return the newest snapshot, and the files appended after `version`."""
        table = self._table.load()
        current = table.current_snapshot()
        if current is None or current.snapshot_id == version:
            return version, []
        begin = None if version == _NO_SNAPSHOT else version
        try:
            scan = table.incremental_append_scan(
                from_snapshot_id_exclusive=begin, to_snapshot_id_inclusive=current.snapshot_id
            )
            return current.snapshot_id, _files(table, scan.plan_files())
        except ValueError as error:
            raise SourceConnectionError(
                f"snapshot {version} of the Iceberg table {self._table.identifier}, up to which the job has read, is "
                f"no ancestor of the current one, or is gone ({error}); start with an empty checkpoint "
                "directory, and let snapshots expire later"
            ) from None


def _files(table: Any, tasks: Iterable[Any]) -> list[TableFile]:
    details = table.metadata_location
    found = []
    for task in sorted(tasks, key=lambda task: str(task.file.file_path)):
        pickled = base64.b64encode(pickle.dumps(task, 5)).decode()
        found.append(TableFile(task.file.file_path, task.file.file_size_in_bytes, [details, pickled]))
    return found


def scan_task(file: TableFile) -> tuple[str, Any]:
    """Return the address of the table's metadata, and pyiceberg's scan task for a file."""
    location, pickled = file.details
    return location, pickle.loads(base64.b64decode(pickled))
