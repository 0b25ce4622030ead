"""ORC files as sources and sinks of rows."""

from __future__ import annotations

from scurry.common.configuration import Configuration
from scurry.common.serialization import BulkWriterFactory
from scurry.connectors.files.formats.columnar import RowsWriterFactory, file_schema
from scurry.connectors.files.formats.orc import OrcFormat, OrcWriterFactory
from scurry.datastream.formats._columns import check_row
from scurry.errors import ArgumentError, UnsupportedError
from scurry.sql.types.nested_types import RowType

__all__ = ["OrcBulkWriters", "OrcColumnarRowInputFormat"]

_COMPRESSION, _STRIPE_SIZE = "orc.compress", "orc.stripe.size"
_COMPRESSIONS = {"none": "uncompressed", "zlib": "zlib", "snappy": "snappy", "lz4": "lz4", "zstd": "zstd"}


class OrcColumnarRowInputFormat(OrcFormat):
    """Read rows of chosen columns from ORC files; a column that a file does not have is null.

    Flink's Java API has it; PyFlink does not.
    """

    def __init__(self, row_type: RowType, batch_size: int = 2048, is_case_sensitive: bool = True) -> None:
        """Describe a format of ORC files.

        Args:
            row_type: The columns.
            batch_size: Rows decoded at once.
            is_case_sensitive: Whether column names must match exactly.

        Raises:
            ArgumentError: A batch size below 1.
            UnsupportedError: A type that ORC files do not support.
        """
        if batch_size < 1:
            raise ArgumentError(f"batch_size must be at least 1, got {batch_size}")
        super().__init__(check_row(row_type), batch_size, True, is_case_sensitive)


class OrcBulkWriters:
    """Create writers of ORC files for `FileSink.for_bulk_format`."""

    @staticmethod
    def for_row_type(
        row_type: RowType, writer_properties: Configuration | None = None, hadoop_config: Configuration | None = None
    ) -> BulkWriterFactory:
        """Return the factory of writers of rows.

        Args:
            row_type: The columns.
            writer_properties: May set `orc.compress` (ZLIB by default, NONE, SNAPPY, LZ4, ZSTD) and `orc.stripe.size`
                (bytes, 64 MiB by default), and nothing else.
            hadoop_config: The same; `writer_properties` override it.

        Raises:
            ArgumentError: The stripe size is not a positive number.
            UnsupportedError: A type that ORC files do not support, or other settings.
        """
        settings: dict[str, str] = {}
        for configuration in (hadoop_config, writer_properties):
            for key in configuration.key_set() if configuration is not None else ():
                if key not in (_COMPRESSION, _STRIPE_SIZE):
                    raise UnsupportedError(
                        f"ORC setting {key!r} has no effect: ORC is written without Hadoop; {_COMPRESSION} and "
                        f"{_STRIPE_SIZE} can be set"
                    )
                settings[key] = str(configuration.get_string(key, ""))  # type: ignore[union-attr]
        compression = settings.get(_COMPRESSION, "ZLIB")
        if compression.lower() not in _COMPRESSIONS:
            raise UnsupportedError(f"{_COMPRESSION}={compression}; use {', '.join(map(str.upper, _COMPRESSIONS))}")
        size = settings.get(_STRIPE_SIZE, str(64 * 1024 * 1024))
        if not size.isdigit() or not int(size):
            raise ArgumentError(f"{_STRIPE_SIZE}={size}; give a positive number of bytes")
        schema = file_schema(check_row(row_type))
        return RowsWriterFactory(row_type, OrcWriterFactory(schema, _COMPRESSIONS[compression.lower()], int(size)))
