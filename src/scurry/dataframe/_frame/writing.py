"""Methods that write a DataFrame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scurry.dataframe._frame.base import FrameBase
from scurry.dataframe._kafka import sink_options
from scurry.dataframe._options import optional_text, options_of_files, partition_columns, text_of_flag, text_of_number
from scurry.dataframe.validation import require_options, require_text
from scurry.errors import ArgumentError, ArgumentTypeError
from scurry.table.statement_set import StatementSet
from scurry.table.table_descriptor import TableDescriptor

#: The options of the connector `filesystem` by the parameters of writers.
_OF_FILES = {
    "sink_parallelism": "sink.parallelism",
    "sink_shuffle_by_partition": "sink.shuffle-by-partition.enable",
    "auto_compaction": "auto-compaction",
    "compaction_file_size": "compaction.file-size",
    "rolling_policy_file_size": "sink.rolling-policy.file-size",
    "rolling_policy_rollover_interval": "sink.rolling-policy.rollover-interval",
    "rolling_policy_inactivity_interval": "sink.rolling-policy.inactivity-interval",
    "rolling_policy_check_interval": "sink.rolling-policy.check-interval",
    "partition_commit_trigger": "sink.partition-commit.trigger",
    "partition_commit_delay": "sink.partition-commit.delay",
    "partition_commit_policy_kind": "sink.partition-commit.policy.kind",
}
_FLAGS = ("sink_shuffle_by_partition", "auto_compaction")


class WritingMethods(FrameBase, check_arguments=False):
    """Methods that write a DataFrame.

    They run the job to its end, or add the write to a statement set, which runs several as one job.
    """

    def write_parquet(
        self,
        path: str,
        *,
        mode: str = "append",
        partition_by: str | list[str] | None = None,
        compression: str | None = None,
        utc_timezone: bool | None = None,
        sink_parallelism: int | None = None,
        sink_shuffle_by_partition: bool | None = None,
        auto_compaction: bool | None = None,
        compaction_file_size: str | None = None,
        rolling_policy_file_size: str | None = None,
        rolling_policy_rollover_interval: str | None = None,
        rolling_policy_inactivity_interval: str | None = None,
        rolling_policy_check_interval: str | None = None,
        partition_commit_trigger: str | None = None,
        partition_commit_delay: str | None = None,
        partition_commit_policy_kind: str | None = None,
        connector_options: dict[str, str] | None = None,
        format_options: dict[str, str] | None = None,
        statement_set: StatementSet | None = None,
    ) -> None:
        """Write Parquet files into a directory.

        Args:
            path: The directory.
            mode: `append`, or `overwrite` to replace files of the partitions that are written (in BATCH).
            partition_by: The columns that name subdirectories: `name=value`.
            compression: The codec, such as `SNAPPY`.
            utc_timezone: Whether timestamps are in UTC, not in the zone of the session.
            sink_parallelism: The number of writers.
            sink_shuffle_by_partition: Whether the rows of a partition go to one writer.
            auto_compaction: Whether small files are merged.
            compaction_file_size: The size of merged files, such as `128 MB`.
            rolling_policy_file_size: The size at which a new file begins, such as `128 MB`.
            rolling_policy_rollover_interval: The age at which a new file begins, such as `30 min`.
            rolling_policy_inactivity_interval: The time without rows after which a file ends.
            rolling_policy_check_interval: How often these times are looked at.
            partition_commit_trigger: `process-time` or `partition-time`.
            partition_commit_delay: How long after its time a partition is complete.
            partition_commit_policy_kind: What is done then, such as `success-file`.
            connector_options: Further options of the connector `filesystem`.
            format_options: Further options of the format.
            statement_set: The set of `create_statement_set` that gets the write; None to run it now.

        Raises:
            TypeError: An argument is something else.
            ValueError: An option is wrong.
        """
        given = dict(locals())
        of_format = {
            "parquet.compression": optional_text("compression", compression),
            "parquet.utc-timezone": text_of_flag("utc_timezone", utc_timezone),
        }
        self._write_files("parquet", of_format, given)

    def write_json(
        self,
        path: str,
        *,
        mode: str = "append",
        partition_by: str | list[str] | None = None,
        timestamp_format: str | None = None,
        ignore_null_fields: bool | None = None,
        decimal_as_plain_number: bool | None = None,
        sink_parallelism: int | None = None,
        sink_shuffle_by_partition: bool | None = None,
        auto_compaction: bool | None = None,
        compaction_file_size: str | None = None,
        rolling_policy_file_size: str | None = None,
        rolling_policy_rollover_interval: str | None = None,
        rolling_policy_inactivity_interval: str | None = None,
        rolling_policy_check_interval: str | None = None,
        partition_commit_trigger: str | None = None,
        partition_commit_delay: str | None = None,
        partition_commit_policy_kind: str | None = None,
        connector_options: dict[str, str] | None = None,
        format_options: dict[str, str] | None = None,
        statement_set: StatementSet | None = None,
    ) -> None:
        """Write files with a JSON object in each line into a directory.

        Args:
            path: The directory.
            mode: `append`, or `overwrite` to replace files of the partitions that are written (in BATCH).
            partition_by: The columns that name subdirectories: `name=value`.
            timestamp_format: `SQL` or `ISO-8601`.
            ignore_null_fields: Whether NULL is left out.
            decimal_as_plain_number: Whether decimal numbers have no exponent.
            sink_parallelism: The number of writers.
            sink_shuffle_by_partition: Whether the rows of a partition go to one writer.
            auto_compaction: Whether small files are merged.
            compaction_file_size: The size of merged files, such as `128 MB`.
            rolling_policy_file_size: The size at which a new file begins, such as `128 MB`.
            rolling_policy_rollover_interval: The age at which a new file begins, such as `30 min`.
            rolling_policy_inactivity_interval: The time without rows after which a file ends.
            rolling_policy_check_interval: How often these times are looked at.
            partition_commit_trigger: `process-time` or `partition-time`.
            partition_commit_delay: How long after its time a partition is complete.
            partition_commit_policy_kind: What is done then, such as `success-file`.
            connector_options: Further options of the connector `filesystem`.
            format_options: Further options of the format.
            statement_set: The set of `create_statement_set` that gets the write; None to run it now.

        Raises:
            TypeError: An argument is something else.
            ValueError: An option is wrong.
        """
        given = dict(locals())
        of_format = {
            "json.timestamp-format.standard": optional_text("timestamp_format", timestamp_format),
            "json.encode.ignore-null-fields": text_of_flag("ignore_null_fields", ignore_null_fields),
            "json.encode.decimal-as-plain-number": text_of_flag("decimal_as_plain_number", decimal_as_plain_number),
        }
        self._write_files("json", of_format, given)

    def write_kafka(
        self,
        bootstrap_servers: str,
        *,
        topic: str | list[str],
        format: str = "json",
        format_options: dict[str, str] | None = None,
        key_format: str | None = None,
        key_format_options: dict[str, str] | None = None,
        key_fields: list[str] | None = None,
        value_format: str | None = None,
        value_format_options: dict[str, str] | None = None,
        value_fields_include: str = "ALL",
        delivery_guarantee: str = "at-least-once",
        transactional_id_prefix: str | None = None,
        partitioner: str | None = None,
        properties: dict[str, str] | None = None,
        sink_parallelism: int | None = None,
        options: dict[str, str] | None = None,
        statement_set: StatementSet | None = None,
    ) -> None:
        """Write messages to a topic of Kafka.

        Args:
            bootstrap_servers: The brokers: `host:port,...`.
            topic: The topic.
            format: The format of values.
            format_options: Its options.
            key_format: The format of keys.
            key_format_options: Its options.
            key_fields: The columns that the key has.
            value_format: The format of values, instead of `format`.
            value_format_options: Its options.
            value_fields_include: `ALL`, or `EXCEPT_KEY` to leave the columns of the key out of the value.
            delivery_guarantee: `at-least-once`, `exactly-once` or `none`.
            transactional_id_prefix: The beginning of the ids of transactions, which `exactly-once` needs.
            partitioner: The partitioner: `default`, `fixed`, `round-robin`.
            properties: Settings of the client, without `properties.`.
            sink_parallelism: The number of writers.
            options: Further options of the connector `kafka`.
            statement_set: The set of `create_statement_set` that gets the write; None to run it now.

        Raises:
            TypeError: An argument is something else.
            ValueError: An option is wrong.
        """
        given = dict(locals())
        options_ = sink_options(**{name: each for name, each in given.items() if name not in ("self", "statement_set")})
        self._checked_set(statement_set)
        self._written(_descriptor("kafka", options_), False, statement_set)

    def write_generic(
        self, connector: str, *, options: dict[str, str], statement_set: StatementSet | None = None
    ) -> None:
        """Write to a connector.

        Args:
            connector: The connector, such as `print` or `jdbc`.
            options: Its options, without `connector`.
            statement_set: The set of `create_statement_set` that gets the write; None to run it now.

        Raises:
            TypeError: An argument is something else.
            ValueError: An option is wrong.
        """
        require_text("connector", connector)
        given = require_options("options", options)
        if "connector" in given:
            raise ArgumentError("connector must be specified with the connector argument, not in options")
        self._checked_set(statement_set)
        self._written(_descriptor(connector, given), False, statement_set)

    def write_catalog_table(
        self, path: str, *, overwrite: bool = False, statement_set: StatementSet | None = None
    ) -> None:
        """Write into a table of a catalog.

        Args:
            path: Its name, of one to three parts.
            overwrite: Whether existing rows are replaced.
            statement_set: The set of `create_statement_set` that gets the write; None to run it now.

        Raises:
            TypeError: An argument is something else.
            ValueError: There is no such table, or the columns do not fit.
        """
        require_text("path", path)
        if not isinstance(overwrite, bool):
            raise ArgumentTypeError("overwrite must be a bool")
        self._checked_set(statement_set)
        self._written(path, overwrite, statement_set)

    def _write_files(self, format: str, of_format: Mapping[str, str | None], given: Mapping[str, Any]) -> None:
        """Write files; all arguments are checked before anything runs."""
        of_connector = {option: _as_option(name, given[name]) for name, option in _OF_FILES.items()}
        path, options = given["path"], (given["connector_options"], given["format_options"])
        found = options_of_files(path, format, *options, of_connector, of_format)
        mode = given["mode"]
        if not isinstance(mode, str):
            raise ArgumentTypeError("mode must be a string")
        if mode not in ("append", "overwrite"):
            raise ArgumentError("mode must be 'append' or 'overwrite'")
        keys = partition_columns(given["partition_by"])
        self._checked_set(given["statement_set"])
        self._written(_descriptor("filesystem", found, keys), mode == "overwrite", given["statement_set"])

    def _checked_set(self, statement_set: Any) -> None:
        if statement_set is not None and not isinstance(statement_set, StatementSet):
            raise ArgumentTypeError("statement_set must be a StatementSet or None")
        if statement_set is not None and statement_set._environment is not self._table._environment:
            raise ArgumentError("DataFrame and statement_set must belong to the same TableEnvironment")

    def _written(self, target: str | TableDescriptor, overwrite: bool, statement_set: StatementSet | None) -> None:
        if statement_set is not None:
            statement_set.add_insert(target, self._table, overwrite=overwrite)
        else:
            self._table.execute_insert(target, overwrite=overwrite).wait()


def _as_option(name: str, value: Any) -> str | None:
    if name == "sink_parallelism":
        return text_of_number(name, value)
    return text_of_flag(name, value) if name in _FLAGS else optional_text(name, value)


def _descriptor(connector: str, options: Mapping[str, str], keys: list[str] | None = None) -> TableDescriptor:
    builder = TableDescriptor.for_connector(connector)
    for key, value in options.items():
        builder = builder.option(key, value)
    return builder.partitioned_by(*keys).build() if keys else builder.build()
