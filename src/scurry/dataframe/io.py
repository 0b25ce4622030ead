"""DataFrames of files, topics, tables of catalogs, and of all other connectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scurry.dataframe._kafka import source_options
from scurry.dataframe._options import optional_text, options_of_files, partition_columns, text_of_flag
from scurry.dataframe.context import get_or_create_table_environment
from scurry.dataframe.dataframe import DataFrame
from scurry.dataframe.datatype import DataType
from scurry.dataframe.validation import require_options, require_text
from scurry.errors import ArgumentError, ArgumentTypeError
from scurry.table.schema import Schema
from scurry.table.table_descriptor import TableDescriptor

__all__ = ["read_catalog_table", "read_generic", "read_json", "read_kafka", "read_parquet"]


def read_generic(
    connector: str,
    *,
    schema: dict[str, DataType],
    options: dict[str, str],
    computed_columns: dict[str, str] | None = None,
    watermark: tuple[str, str] | None = None,
) -> DataFrame:
    """Return the DataFrame that a connector reads.

    Args:
        connector: The connector, such as `datagen` or `jdbc`.
        schema: The types of the columns by name.
        options: The options of the connector, without `connector`.
        computed_columns: Further columns: the SQL of each by name.
        watermark: The column that is the event time, and the SQL of its watermark.

    Raises:
        TypeError: An argument is something else.
        ValueError: An option or a column is wrong.

    Example:
        ```python
        pf.read_generic("datagen", schema={"id": pf.DataType.int64()}, options={"number-of-rows": "10"})
        ```
    """
    require_text("connector", connector)
    columns = _schema(schema, computed_columns, watermark)
    given = require_options("options", options)
    if "connector" in given:
        raise ArgumentError("connector must be specified with the connector argument, not in options")
    return _read(connector, columns, given, [])


def read_parquet(
    path: str,
    *,
    schema: dict[str, DataType],
    partition_by: str | list[str] | None = None,
    monitor_interval: str | None = None,
    path_regex_pattern: str | None = None,
    utc_timezone: bool | None = None,
    connector_options: dict[str, str] | None = None,
    format_options: dict[str, str] | None = None,
    computed_columns: dict[str, str] | None = None,
    watermark: tuple[str, str] | None = None,
) -> DataFrame:
    """Return the DataFrame of Parquet files.

    Args:
        path: The file, or the directory of files.
        schema: The types of the columns by name.
        partition_by: The columns whose values are in the path: `name=value`.
        monitor_interval: How often new files are looked for, such as `10 s`; None to read what is there.
        path_regex_pattern: The pattern that the whole path of a file matches.
        utc_timezone: Whether timestamps are in UTC, not in the zone of the session.
        connector_options: Further options of the connector `filesystem`.
        format_options: Further options of the format.
        computed_columns: Further columns: the SQL of each by name.
        watermark: The column that is the event time, and the SQL of its watermark.

    Raises:
        TypeError: An argument is something else.
        ValueError: An option or a column is wrong.
    """
    columns, keys = _schema(schema, computed_columns, watermark), partition_columns(partition_by)
    of_format = {"parquet.utc-timezone": text_of_flag("utc_timezone", utc_timezone)}
    discovery = _discovery(monitor_interval, path_regex_pattern)
    options = options_of_files(path, "parquet", connector_options, format_options, discovery, of_format)
    return _read("filesystem", columns, options, keys)


def read_json(
    path: str,
    *,
    schema: dict[str, DataType],
    partition_by: str | list[str] | None = None,
    monitor_interval: str | None = None,
    path_regex_pattern: str | None = None,
    ignore_parse_errors: bool | None = None,
    fail_on_missing_field: bool | None = None,
    timestamp_format: str | None = None,
    connector_options: dict[str, str] | None = None,
    format_options: dict[str, str] | None = None,
    computed_columns: dict[str, str] | None = None,
    watermark: tuple[str, str] | None = None,
) -> DataFrame:
    """Return the DataFrame of files with a JSON object in each line.

    Args:
        path: The file, or the directory of files.
        schema: The types of the columns by name.
        partition_by: The columns whose values are in the path: `name=value`.
        monitor_interval: How often new files are looked for, such as `10 s`; None to read what is there.
        path_regex_pattern: The pattern that the whole path of a file matches.
        ignore_parse_errors: Whether lines that cannot be read are left out.
        fail_on_missing_field: Whether a missing member is an error; otherwise it is NULL.
        timestamp_format: `SQL` or `ISO-8601`.
        connector_options: Further options of the connector `filesystem`.
        format_options: Further options of the format.
        computed_columns: Further columns: the SQL of each by name.
        watermark: The column that is the event time, and the SQL of its watermark.

    Raises:
        TypeError: An argument is something else.
        ValueError: An option or a column is wrong.
    """
    columns, keys = _schema(schema, computed_columns, watermark), partition_columns(partition_by)
    of_format = {
        "json.ignore-parse-errors": text_of_flag("ignore_parse_errors", ignore_parse_errors),
        "json.fail-on-missing-field": text_of_flag("fail_on_missing_field", fail_on_missing_field),
        "json.timestamp-format.standard": optional_text("timestamp_format", timestamp_format),
    }
    discovery = _discovery(monitor_interval, path_regex_pattern)
    options = options_of_files(path, "json", connector_options, format_options, discovery, of_format)
    return _read("filesystem", columns, options, keys)


def read_kafka(
    bootstrap_servers: str,
    *,
    schema: dict[str, DataType],
    topic: str | list[str] | None = None,
    topic_pattern: str | None = None,
    group_id: str | None = None,
    format: str = "json",
    format_options: dict[str, str] | None = None,
    value_format: str | None = None,
    value_format_options: dict[str, str] | None = None,
    key_format: str | None = None,
    key_format_options: dict[str, str] | None = None,
    key_fields: list[str] | None = None,
    key_fields_prefix: str | None = None,
    value_fields_include: str = "ALL",
    startup_mode: str = "group-offsets",
    startup_specific_offsets: dict[int, int] | str | None = None,
    startup_timestamp_millis: int | None = None,
    topic_partition_discovery_interval: str | None = "5 min",
    bounded_mode: str = "unbounded",
    bounded_timestamp_millis: int | None = None,
    bounded_specific_offsets: dict[int, int] | str | None = None,
    properties: dict[str, str] | None = None,
    options: dict[str, str] | None = None,
    computed_columns: dict[str, str] | None = None,
    watermark: tuple[str, str] | None = None,
) -> DataFrame:
    """Return the DataFrame of topics of Kafka.

    Args:
        bootstrap_servers: The brokers: `host:port,...`.
        schema: The types of the columns by name.
        topic: The topic or topics; instead, `topic_pattern`.
        topic_pattern: The pattern of the names of topics.
        group_id: The consumer group.
        format: The format of values.
        format_options: Its options.
        value_format: The format of values, instead of `format`.
        value_format_options: Its options.
        key_format: The format of keys.
        key_format_options: Its options.
        key_fields: The columns that the key has.
        key_fields_prefix: What the names of these columns begin with.
        value_fields_include: `ALL`, or `EXCEPT_KEY` if the value has no columns of the key.
        startup_mode: Start of reading: `group-offsets`, `earliest-offset`, `latest-offset`, `timestamp`,
            `specific-offsets`.
        startup_specific_offsets: The offsets by partition, or `partition:0,offset:42;...`.
        startup_timestamp_millis: The time at which reading begins, in milliseconds since 1970.
        topic_partition_discovery_interval: How often new partitions are looked for; None for never.
        bounded_mode: Where reading ends: `unbounded`, `latest-offset`, `group-offsets`, `timestamp`,
            `specific-offsets`.
        bounded_timestamp_millis: The time at which reading ends, in milliseconds since 1970.
        bounded_specific_offsets: The offsets by partition, or `partition:0,offset:42;...`.
        properties: Settings of the client, without `properties.`.
        options: Further options of the connector `kafka`.
        computed_columns: Further columns: the SQL of each by name.
        watermark: The column that is the event time, and the SQL of its watermark.

    Raises:
        TypeError: An argument is something else.
        ValueError: An option or a column is wrong.
    """
    given = dict(locals())
    columns = _schema(given.pop("schema"), given.pop("computed_columns"), given.pop("watermark"))
    return _read("kafka", columns, source_options(**given), [])


def read_catalog_table(
    path: str, *, computed_columns: dict[str, str] | None = None, watermark: tuple[str, str] | None = None
) -> DataFrame:
    """Return the DataFrame of a table or view of a catalog.

    Args:
        path: Its name, of one to three parts.
        computed_columns: Further columns of a table: the SQL of each by name.
        watermark: The column that is the event time, and the SQL of its watermark, instead of the table's.

    Raises:
        TypeError: An argument is something else.
        ValueError: There is no such table, or a column is wrong.
    """
    require_text("path", path)
    _checked_columns(computed_columns, watermark)
    environment = get_or_create_table_environment()
    if not computed_columns and watermark is None:
        return DataFrame(environment.from_path(path))
    return DataFrame(environment.from_descriptor(_extended(environment, path, computed_columns or {}, watermark)))


def _read(connector: str, schema: Schema, options: Mapping[str, str], keys: list[str]) -> DataFrame:
    builder = TableDescriptor.for_connector(connector).schema(schema)
    for key, value in options.items():
        builder = builder.option(key, value)
    if keys:
        builder = builder.partitioned_by(*keys)
    return DataFrame(get_or_create_table_environment().from_descriptor(builder.build()))


def _discovery(monitor_interval: Any, path_regex_pattern: Any) -> dict[str, str | None]:
    return {
        "source.monitor-interval": optional_text("monitor_interval", monitor_interval),
        "source.path.regex-pattern": optional_text("path_regex_pattern", path_regex_pattern),
    }


def _schema(schema: Any, computed_columns: Any, watermark: Any) -> Schema:
    """Return the columns of a table: physical ones, computed ones, and the event time."""
    if not isinstance(schema, dict):
        raise ArgumentTypeError("schema must be a dict of column names and DataType values")
    if not schema:
        raise ArgumentError("schema must not be empty")
    for name, kind in schema.items():
        if not isinstance(name, str):
            raise ArgumentTypeError("schema column names must be strings")
        if not name:
            raise ArgumentError("schema column names must not be empty")
        if not isinstance(kind, DataType):
            raise ArgumentTypeError(f"schema column '{name}' must use a DataType value")
    _checked_columns(computed_columns, watermark)
    builder = Schema.new_builder()
    for name, kind in schema.items():
        builder = builder.column(name, kind._to_table_data_type())
    for name, text in (computed_columns or {}).items():
        builder = builder.column_by_expression(name, text)
    if watermark is not None:
        builder = builder.watermark(*watermark)
    return builder.build()


def _checked_columns(computed_columns: Any, watermark: Any) -> None:
    if computed_columns is not None and not isinstance(computed_columns, dict):
        raise ArgumentTypeError("computed_columns must be a dict of string keys and values")
    for name, text in (computed_columns or {}).items():
        if not isinstance(name, str):
            raise ArgumentTypeError("computed column names must be strings")
        if not name:
            raise ArgumentError("computed column names must not be empty")
        if not isinstance(text, str):
            raise ArgumentTypeError(f"computed column '{name}' must use a string expression")
        if not text.strip():
            raise ArgumentError(f"computed column '{name}' expression must not be empty")
    if watermark is None:
        return
    if not isinstance(watermark, tuple) or len(watermark) != 2:
        raise ArgumentTypeError("watermark must be a tuple of (column, expression)")
    if not all(isinstance(each, str) for each in watermark):
        raise ArgumentTypeError("watermark column and expression must be strings")
    if not all(each.strip() for each in watermark):
        raise ArgumentError("watermark column and expression must not be empty")


def _extended(environment: Any, path: str, computed: Mapping[str, str], watermark: Any) -> TableDescriptor:
    """Return the description of a table of a catalog with further columns."""
    from scurry.sql.catalog.entries import CatalogTable

    session = environment._session
    identifier = environment._named(path)
    found = session.catalogs.find_table(identifier)
    if found is None:
        environment.from_path(path)  # raises
        raise AssertionError("from_path has found what is not there")
    table = found.table
    if not isinstance(table, CatalogTable):
        raise ArgumentError(f"{identifier} is a view, computed columns and watermarks can only be added to tables")
    if "connector" not in table.options:
        raise ArgumentError(f"{identifier} does not declare a 'connector' option, so that no copy of it can be read")
    builder = Schema.new_builder().from_resolved_schema(table.schema)
    for name, text in computed.items():
        builder = builder.column_by_expression(name, text)
    if watermark is not None:
        builder = builder.watermark(*watermark)
    return TableDescriptor(builder.build(), table.options, table.partition_keys, table.comment)
