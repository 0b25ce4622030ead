"""FileSystemFactory: tables of files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scurry.connectors.files.writing.parts import RollingPolicy
from scurry.connectors.sink import Sink
from scurry.errors import UnsupportedError, ValidationError
from scurry.sql.catalog.schema import MetadataColumn
from scurry.sql.catalog.table_options import Options, TableOption
from scurry.sql.connectors.contract import SinkChanges, SinkTarget, TableContext, TableFactory, TableSource
from scurry.sql.connectors.filesystem import options as keys
from scurry.sql.connectors.filesystem.marking import PartitionMarking
from scurry.sql.connectors.filesystem.reading import FileTableSource
from scurry.sql.connectors.filesystem.writing import file_table_sink
from scurry.sql.formats.contract import FormatColumn, FormatFactory
from scurry.sql.formats.registry import checked_options, find_format


class FileSystemFactory(TableFactory):
    """Make sources and sinks of files."""

    identifier = "filesystem"
    with_watermark_options = True
    reads_metadata = True
    supports_overwrite = True

    def options(self, context: TableContext) -> Sequence[TableOption[Any]]:
        """Return all options but those of the format."""
        return keys.OPTIONS

    def other_keys(self, context: TableContext) -> Sequence[str]:
        """Return the keys of the format, which are checked with it."""
        identifier = context.options.get("format")
        if identifier is None:
            return ()  # it is missing, which is reported first
        chosen = find_format(identifier)
        return [f"{identifier}.{option.key}" for option in chosen.file_options]

    def create_source(self, context: TableContext) -> TableSource:
        options = self.check(context)
        chosen, own = self._format(options, "scan")
        declared = _stored(context)
        for column in context.schema.get_columns():
            if isinstance(column, MetadataColumn) and column.key not in FileTableSource.metadata:
                raise ValidationError(
                    f"Invalid metadata key '{column.key}' in column '{column.name}' of table "
                    f"'{context.identifier.as_summary_string()}'. The table reads these metadata keys:\n"
                    + "\n".join(FileTableSource.metadata)
                )
        columns = context.schema.get_columns()
        source = FileTableSource(
            path=options.get(keys.PATH),
            pattern=options.find(keys.PATH_PATTERN),
            format=chosen,
            format_options=own,
            declared=declared,
            partition_keys=context.table.partition_keys,
            partition_types={c.name: c.data_type for c in columns if c.name in context.table.partition_keys},
            default_partition=options.get(keys.DEFAULT_PARTITION),
            metadata_keys={c.name: c.key for c in columns if isinstance(c, MetadataColumn)},
            bounded=not context.streaming or keys.MONITOR_INTERVAL not in options,
            monitor_interval=options.find(keys.MONITOR_INTERVAL),
        )
        source.reader(())  # refuses columns that the format cannot read
        return source

    def sink_changes(self, context: TableContext) -> SinkChanges:
        """Accept the changes that the format accepts."""
        chosen, _ = self._format(context.read_options(), "sink")
        return SinkChanges("INSERT" if chosen.insert_only else "ALL")

    def create_sink(self, context: TableContext, target: SinkTarget) -> Sink:
        options = self.check(context)
        _refuse_what_has_no_effect(options)
        chosen, own = self._format(options, "sink")
        columns = [column for column in context.schema.get_columns() if column.is_persisted()]
        return file_table_sink(
            path=options.get(keys.PATH),
            writer=chosen.file_writer(_stored(context), own),
            columns={column.name: column.data_type for column in columns},
            partition_keys=context.table.partition_keys,
            default_partition=options.get(keys.DEFAULT_PARTITION),
            rolling=RollingPolicy(
                options.get(keys.ROLLING_SIZE), options.get(keys.ROLLOVER), options.get(keys.INACTIVITY)
            ),
            marking=_marking(options, context),
            target=target,
            with_kinds=not chosen.insert_only,
        )

    def _format(self, options: Options, kind: str) -> tuple[FormatFactory, Options]:
        chosen = find_format(options.get(keys.FORMAT))
        return chosen, checked_options(chosen, options, kind, files=True)


def _stored(context: TableContext) -> tuple[FormatColumn, ...]:
    """Return the columns that the files have."""
    return tuple(column for column in context.physical_columns if column.name not in context.table.partition_keys)


#: Options that a sink would have to act on, each with the only value that changes nothing.
_WITHOUT_EFFECT: dict[TableOption[Any], Any] = {
    keys.AUTO_COMPACTION: False,
    keys.COMPACTED_SIZE: None,
    keys.SHUFFLE_BY_PARTITION: False,
    keys.POLICY_CLASS: None,
    keys.POLICY_PARAMETERS: None,
    keys.EXTRACTOR_CLASS: None,
    keys.EXTRACTOR_KIND: "default",
}


def _refuse_what_has_no_effect(options: Options) -> None:
    for option, harmless in _WITHOUT_EFFECT.items():
        if options.find(option) not in (None, harmless):
            raise UnsupportedError(f"a sink of files does not support the option '{option.key}' yet; leave it out")
    policies = (options.find(keys.COMMIT_POLICY) or "success-file").split(",")
    if "metastore" in policies:
        raise ValidationError(
            "Can not configure a 'metastore' partition commit policy for a file system table. You can only configure "
            "'metastore' partition commit policy for a hive table."
        )
    if set(policies) != {"success-file"}:
        raise UnsupportedError(
            f"'{keys.COMMIT_POLICY.key}' = '{','.join(policies)}': partitions are marked by 'success-file' only"
        )


def _marking(options: Options, context: TableContext) -> PartitionMarking | None:
    if keys.COMMIT_POLICY not in options or (context.streaming and not context.table.partition_keys):
        return None  # a table without partitions is marked in BATCH only, as by Flink
    at_end = not context.streaming or options.get(keys.COMMIT_TRIGGER) == "partition-time"
    return PartitionMarking(options.get(keys.SUCCESS_FILE), None if at_end else options.get(keys.COMMIT_DELAY))
