"""FileTableSource: reads the files of a directory as rows."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from scurry._dataclasses import dataclass
from scurry.common._java_regex.patterns import compiled
from scurry.connectors.files.filesystem import FileStatus, FileSystem, file_system
from scurry.connectors.files.formats.format import FileFormat
from scurry.connectors.files.formats.ranges import compressed
from scurry.connectors.files.reading.damaged import naming_damage
from scurry.connectors.files.reading.globs import expand, is_pattern
from scurry.connectors.files.reading.source import FileSource
from scurry.connectors.source import BatchLimits, Block, Enumerator
from scurry.errors import MalformedRecordError
from scurry.sql.catalog.table_options import Options
from scurry.sql.connectors.contract import Changes, TableSource
from scurry.sql.connectors.filesystem.partitions import partition_of_path, partition_value
from scurry.sql.formats.contract import FileReader, FormatColumn, FormatFactory
from scurry.sql.types import MAX_LENGTH, BigIntType, DataType, LocalZonedTimestampType, VarCharType
from scurry.sql.types.values import from_values

if TYPE_CHECKING:
    pass

_STRING = VarCharType(MAX_LENGTH)
_METADATA: dict[str, DataType] = {
    "file.path": _STRING.not_null(),
    "file.name": _STRING.not_null(),
    "file.size": BigIntType().not_null(),
    "file.modification-time": LocalZonedTimestampType(3).not_null(),
}


@dataclass(frozen=True)
class _FileSplit:
    """A file, of which a range of bytes is read."""

    status: FileStatus
    start: int
    end: int


class _Ranges(FileFormat):
    """Splitting of files, the only part of a format that an enumerator of files needs."""

    def __init__(self, reader: FileReader) -> None:
        self._reader = reader

    @property
    def produced_type(self) -> None:
        return None

    @property
    def cut_anywhere(self) -> bool:
        return self._reader.splittable

    def splittable(self, path: str) -> bool:
        return self._reader.splittable and not compressed(path)

    def read(self, fs: FileSystem, path: str, start: int, end: int, size: int) -> Iterator[Block]:
        raise NotImplementedError("files of tables are read by the readers of tables")


@dataclass(frozen=True)
class FileTableSource(TableSource):
    """Read the files of a directory.

    Attributes:
        pattern: Regular expression that the paths of files must match; None for all.
        partition_keys: The columns that directories give.
        default_partition: The directory of NULL.
        bounded: Whether no files are looked for later.
        monitor_interval: Milliseconds between looking for new files, if they are looked for.
    """

    metadata = _METADATA

    path: str
    pattern: str | None
    format: FormatFactory
    format_options: Options
    declared: tuple[FormatColumn, ...]
    partition_keys: tuple[str, ...]
    partition_types: Mapping[str, DataType]
    default_partition: str
    metadata_keys: Mapping[str, str]
    bounded: bool = True
    monitor_interval: int | None = None

    def splits(self) -> list[Any]:
        """Return the files, ordered by their paths."""
        fs, base = file_system(self.path)
        found = [
            status
            for start in (expand(fs, base, must_exist=True) if is_pattern(base) else [base])
            for status in fs.files(start)
        ]
        if self.pattern is not None:
            accepts = compiled(self.pattern)
            found = [status for status in found if accepts.fullmatch(status.path)]
        return [_FileSplit(status, 0, status.size) for status in sorted(found, key=lambda status: status.path)]

    def reader(self, columns: Sequence[str]) -> FileReader:
        """Return the format's reader of some columns."""
        return self.format.file_reader(self.declared, columns, self.format_options)

    def create_enumerator(self, channels: int, limits: BatchLimits) -> Enumerator:
        """Return the assigner of ranges of the files, and looks for new ones."""
        interval = None if self.bounded else self.monitor_interval
        files = FileSource(_Ranges(self.reader(())), [self.path], interval, pattern=self.pattern)
        return files.create_enumerator(channels, limits)

    @property
    def insert_only(self) -> bool:  # type: ignore[override]
        """Return whether the format has inserted rows only."""
        return self.format.insert_only

    def pieces(self, work: Any) -> Iterable[Any]:
        """Return the ranges of files that are assigned."""
        for address, start, end, size in work:
            fs, path = file_system(address)
            status = next(iter(fs.files(path))) if self.metadata_keys else FileStatus(path, size, 0)
            yield _FileSplit(status, start, end)

    def read(self, split: Any, columns: Sequence[str]) -> Iterator[Changes]:
        """Yield the rows of a file or a range of it, with partition values and metadata."""
        import pyarrow as pa

        (fs, base), start, end = file_system(self.path), split.start, split.end
        partition = partition_of_path(split.status.path, base, self.default_partition)
        stored = [column.name for column in self.declared]
        wanted = [name for name in columns if name in stored]
        constants = {name: self._constant(split.status, partition, name) for name in columns if name not in stored}
        found = self.reader(wanted).read_changes(fs, split.status.path, start, end)
        path, size = split.status.path, end - start
        for decoded in naming_damage(found, path, start, size, lambda decoded: decoded.batch.num_rows):
            batch, arrays = decoded.batch, []
            for name in columns:
                if name in constants:
                    arrays.append(pa.repeat(constants[name], batch.num_rows))
                else:
                    arrays.append(batch.column(wanted.index(name)))
            if arrays:
                yield Changes(pa.RecordBatch.from_arrays(arrays, names=list(columns)), decoded.kinds)
            else:
                yield Changes(batch, decoded.kinds)

    def _constant(self, status: FileStatus, partition: Mapping[str, str | None], name: str) -> Any:
        if name in self.partition_types:
            data_type = self.partition_types[name]
            text = partition.get(name)
            try:
                return from_values([partition_value(text, data_type)], data_type)[0]
            except (ValueError, ArithmeticError):
                reason = f"partition column {name!r} is {data_type.as_summary_string()}"
                raise MalformedRecordError(status.path, None, text or "", reason) from None
        key = self.metadata_keys[name]
        return from_values([_metadata(status, key)], _METADATA[key])[0]


def _metadata(status: FileStatus, key: str) -> Any:
    if key == "file.path":
        return status.path
    if key == "file.name":
        return posixpath.basename(status.path)
    return status.size if key == "file.size" else status.modified
