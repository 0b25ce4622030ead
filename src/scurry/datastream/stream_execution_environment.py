"""StreamExecutionEnvironment: where a program gets its streams from, and what executes them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from scurry.common.config_options import (
    CACHE_DIR,
    MAX_PARALLELISM,
    OPERATOR_CHAINING,
    RUNTIME_MODE,
    SAVEPOINTS_DIR,
)
from scurry.common.config_validation import validate
from scurry.common.configuration import Configuration
from scurry.common.execution_config import ExecutionConfig
from scurry.common.io import InputFormat
from scurry.common.job_client import JobClient
from scurry.common.job_execution_result import JobExecutionResult
from scurry.common.time import TimeAmount, to_millis
from scurry.common.watermark_strategy import WatermarkStrategy
from scurry.datastream._submission import job_plan, submit_job, wait_for
from scurry.datastream._type_info import declared_type
from scurry.datastream.checkpoint_config import CheckpointConfig
from scurry.datastream.checkpointing_mode import CheckpointingMode
from scurry.datastream.data_stream import DataStream
from scurry.datastream.execution_mode import RuntimeExecutionMode
from scurry.errors import ArgumentError, ArgumentTypeError
from scurry.graph.nodes import OperatorNode, SourceNode

if TYPE_CHECKING:
    from scurry.connectors.cache import CachedRecords
    from scurry.graph.plan import JobPlan

__all__ = ["StreamExecutionEnvironment"]

_BUFFER_TIMEOUT = "execution.buffer-timeout.interval"


class StreamExecutionEnvironment:
    """The context of a streaming program (Flink's `StreamExecutionEnvironment`).

    Streams are made by `from_*` methods and by other streams; `execute` turns what was built since the last time into
    a job and runs it. All settings are kept in one configuration.
    """

    def __init__(self, configuration: Configuration | None = None) -> None:
        """Make an environment; programs call `get_execution_environment`, which also heeds the command line."""
        self._configuration = Configuration(configuration)
        self._config = ExecutionConfig(self._configuration)
        self._operators: list[OperatorNode] = []
        self._caches: list[CachedRecords] = []

    @staticmethod
    def get_execution_environment(configuration: Configuration | None = None) -> StreamExecutionEnvironment:
        """Return a new environment.

        Args:
            configuration: Its settings; options of the `scurry` command win over them.

        Raises:
            UnknownConfigError: A key is not known.
            ConfigError: A value cannot be used.
        """
        from scurry import launch

        merged = Configuration(configuration)
        for key, value in launch.current().overrides().items():
            merged.set_string(key, value)
        validate(merged)
        return StreamExecutionEnvironment(merged)

    # ------------------------------------------------------------------ settings

    def get_config(self) -> ExecutionConfig:
        """Return the execution settings, which can be changed through it."""
        return self._config

    def set_parallelism(self, parallelism: int) -> StreamExecutionEnvironment:
        """Set the number of subtasks of operators that do not set their own."""
        self._config.set_parallelism(parallelism)
        return self

    def get_parallelism(self) -> int:
        """Return the default parallelism, by default the number of CPUs."""
        return self._config.get_parallelism()

    def set_max_parallelism(self, max_parallelism: int) -> StreamExecutionEnvironment:
        """Set up to how many subtasks jobs can be rescaled, 1 to 32768."""
        self._config.set_max_parallelism(max_parallelism)
        return self

    def get_max_parallelism(self) -> int:
        """Return up to how many subtasks jobs can be rescaled, -1 if not set."""
        return self._configuration.get(MAX_PARALLELISM) or -1

    def set_runtime_mode(self, execution_mode: RuntimeExecutionMode) -> StreamExecutionEnvironment:
        """Set how jobs are executed."""
        if not isinstance(execution_mode, RuntimeExecutionMode):
            raise ArgumentTypeError(f"expected a RuntimeExecutionMode, got {execution_mode!r}")
        self._configuration.set_string(RUNTIME_MODE.key, execution_mode.name)
        return self

    def set_buffer_timeout(self, timeout_millis: TimeAmount) -> StreamExecutionEnvironment:
        """Set how long Flink would hold back records to fill a network buffer; it changes nothing here.

        Args:
            timeout_millis: The time (int: ms), or -1 for until the buffer is full.
        """
        millis = to_millis(timeout_millis)
        if millis < -1:
            raise ArgumentError(f"Timeout of buffer must be non-negative or -1, not {millis}")
        self._configuration.set_integer(_BUFFER_TIMEOUT, millis)
        return self

    def get_buffer_timeout(self) -> int:
        """Return what `set_buffer_timeout` set, in ms, 100 by default."""
        return self._configuration.get_integer(_BUFFER_TIMEOUT, 100)

    def disable_operator_chaining(self) -> StreamExecutionEnvironment:
        """Ask that operators do not share tasks."""
        self._configuration.set_boolean(OPERATOR_CHAINING.key, False)
        return self

    def is_chaining_enabled(self) -> bool:
        """Return whether operators may share tasks."""
        return self._configuration.get(OPERATOR_CHAINING) is True

    def get_checkpoint_config(self) -> CheckpointConfig:
        """Return the settings of checkpoints, which can be changed through it."""
        return CheckpointConfig(self._configuration)

    def enable_checkpointing(
        self, interval: TimeAmount, mode: CheckpointingMode | None = None
    ) -> StreamExecutionEnvironment:
        """Take checkpoints.

        Args:
            interval: Time between them (int: ms), at least 10 ms.
            mode: What they promise; both modes get EXACTLY_ONCE.
        """
        config = self.get_checkpoint_config().set_checkpoint_interval(interval)
        if mode is not None:
            config.set_checkpointing_mode(mode)
        return self

    def get_checkpoint_interval(self) -> int:
        """Return the time between checkpoints in ms, -1 if they are not enabled."""
        return self.get_checkpoint_config().get_checkpoint_interval()

    def get_checkpointing_mode(self) -> CheckpointingMode:
        """Return what checkpoints promise."""
        return self.get_checkpoint_config().get_checkpointing_mode()

    def set_default_savepoint_directory(self, directory: str) -> StreamExecutionEnvironment:
        """Set where savepoints go unless a command says otherwise."""
        self._configuration.set_string(SAVEPOINTS_DIR.key, directory)
        return self

    def get_default_savepoint_directory(self) -> str | None:
        """Return where savepoints go unless a command says otherwise."""
        return self._configuration.get(SAVEPOINTS_DIR)

    def configure(self, configuration: Configuration) -> None:
        """Take over all settings of a configuration.

        Raises:
            UnknownConfigError: A key is not known.
            ConfigError: A value cannot be used.
        """
        validate(configuration)
        for key, value in configuration.to_dict().items():
            self._configuration.set_string(key, value)

    # ------------------------------------------------------------------ what workers need

    def add_python_file(self, file_path: str) -> None:
        """Let workers import from a file or directory of Python code."""
        self._append("python.files", file_path)

    def set_python_requirements(self, requirements_file_path: str, requirements_cache_dir: str | None = None) -> None:
        """Name the packages workers need, as a requirements.txt and optionally a directory with the packages."""
        parts = [requirements_file_path, *([requirements_cache_dir] if requirements_cache_dir else [])]
        self._configuration.set_string("python.requirements", "#".join(parts))

    def add_python_archive(self, archive_path: str, target_dir: str | None = None) -> None:
        """Give workers an archive, unpacked into `target_dir` of their working directory."""
        self._append("python.archives", f"{archive_path}#{target_dir}" if target_dir else archive_path)

    def set_python_executable(self, python_exec: str) -> None:
        """Set the Python interpreter of the workers."""
        self._configuration.set_string("python.executable", python_exec)

    def _append(self, key: str, value: str) -> None:
        before = self._configuration.get_string(key, "")
        self._configuration.set_string(key, f"{before},{value}" if before else value)

    # ------------------------------------------------------------------ sources

    def from_source(
        self,
        source: Any,
        watermark_strategy: WatermarkStrategy | None,
        source_name: str,
        type_info: Any = None,
    ) -> DataStream:
        """Return a stream of the records of a source.

        Args:
            source: A source from `datastream.connectors`.
            watermark_strategy: Timestamps and watermarks of its records; None for neither.
            source_name: Name of the operator.
            type_info: Declared type of the records; None takes what the source says.
        """
        from scurry.connectors.source import Source

        if not isinstance(source, Source):
            raise ArgumentTypeError(f"from_source takes a source from datastream.connectors, got {source!r}")
        return self._source(source, watermark_strategy, source_name, declared_type(type_info, "type_info"))

    def from_collection(self, collection: Iterable[Any], type_info: Any = None) -> DataStream:
        """Return a stream of the elements of a collection.

        Args:
            collection: The elements; they are taken at once.
            type_info: Their declared type; None takes them as they are.

        Raises:
            TypeMismatchError: An element does not fit the type.
        """
        from scurry.connectors.collection import CollectionSource

        source = CollectionSource(collection, declared_type(type_info, "type_info"))
        return self._source(source, None, "Collection Source", source.produced_type)

    def create_input(self, input_format: InputFormat) -> DataStream:
        """Return a stream of what an input format reads, such as an `AvroInputFormat`; it is bounded.

        Args:
            input_format: What to read.
        """
        if not isinstance(input_format, InputFormat):
            raise ArgumentTypeError(f"create_input takes an InputFormat, got {input_format!r}")
        source = input_format.create_source()
        return self._source(source, None, "Custom File Source", source.produced_type)

    def from_spark(
        self,
        dataframe: Any,
        watermark_strategy: WatermarkStrategy | None = None,
        source_name: str = "Spark DataFrame",
        type_info: Any = None,
    ) -> DataStream:
        """Return a stream of the rows of a Spark DataFrame, as Rows. scurry's own; Flink has nothing like it.

        Args:
            dataframe: A `pyspark.sql.DataFrame`: a batch one is bounded, a streaming one is not.
            watermark_strategy: Timestamps and watermarks of its rows.
            source_name: Name of the operator.
            type_info: Declared type of the records.
        """
        from scurry.connectors.spark_source import SparkSource

        source = SparkSource.of(dataframe, declared_type(type_info, "type_info"))
        return self._source(source, watermark_strategy, source_name, source.produced_type)

    def socket_text_stream(self, host: str, port: int) -> DataStream:
        """Return a stream of the lines a server sends; for demonstrations, since a lost line stays lost."""
        from scurry.common.typeinfo import Types
        from scurry.connectors.socket import SocketSource

        return self._source(SocketSource(host, port), None, "Socket Stream", Types.STRING())

    def _source(
        self, source: Any, watermark_strategy: WatermarkStrategy | None, name: str, type_info: Any
    ) -> DataStream:
        if watermark_strategy is not None and not isinstance(watermark_strategy, WatermarkStrategy):
            raise ArgumentTypeError(f"expected a WatermarkStrategy, got {watermark_strategy!r}")
        node = SourceNode(
            name=name,
            output_type=source.produced_type if type_info is None else type_info,
            source=source,
            watermark_strategy=watermark_strategy,
        )
        return DataStream(self, node)

    # ------------------------------------------------------------------ execution

    def execute(self, job_name: str | None = None) -> JobExecutionResult:
        """Run everything built since the last execution and wait for its end, showing progress on standard error.

        Ctrl-C stops the job at the end of its micro-batch; a second one does not wait for that.

        Args:
            job_name: Name of the job.

        Raises:
            TopologyError: Nothing was built.
            JobError: The job failed; the message names the user's function and line.
        """
        return wait_for(self._submit(job_name))

    def execute_async(self, job_name: str | None = "Flink Streaming Job") -> JobClient:
        """Start everything built since the last execution.

        Returns:
            The client of the running job.

        Raises:
            TopologyError: Nothing was built.
        """
        return self._submit(job_name)

    def get_execution_plan(self) -> str:
        """Return the plan of what would be executed, as JSON text.

        Raises:
            TopologyError: Nothing was built.
        """
        return self._plan(None).to_json()

    def close(self) -> None:
        """Forget what was built and not executed, and delete what streams have cached; running jobs go on."""
        self._operators.clear()
        for records in self._caches:
            records.clear()

    def _new_cache(self) -> CachedRecords:
        from scurry.connectors.cache import CachedRecords

        records = CachedRecords(self._configuration.get(CACHE_DIR))
        self._caches.append(records)
        return records

    def _register(self, node: OperatorNode) -> None:
        self._operators.append(node)

    def _plan(self, job_name: str | None) -> JobPlan:
        parameters = self._config.get_global_job_parameters()
        return job_plan(self._operators, self._configuration, self._config.get_parallelism(), job_name, parameters)

    def _submit(self, job_name: str | None) -> JobClient:
        plan = self._plan(job_name)
        self._operators.clear()
        return submit_job(plan, self._configuration)
