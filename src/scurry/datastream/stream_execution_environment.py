"""StreamExecutionEnvironment: creates the streams of a program and executes them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NoReturn, overload

from scurry.common._config.validation import validate
from scurry.common._removed import STREAM_ENVIRONMENT
from scurry.common._type_variables import T
from scurry.common.config_options import CACHE_DIR
from scurry.common.configuration import Configuration
from scurry.common.io import InputFormat
from scurry.common.job_client import JobClient
from scurry.common.job_execution_result import JobExecutionResult
from scurry.common.watermark_strategy import WatermarkStrategy
from scurry.datastream._environment_settings import ConfiguredEnvironment
from scurry.datastream._functions import DeclaredType
from scurry.datastream._reading import ReadingShortcuts
from scurry.datastream._submission import job_plan, submit_job, wait_for
from scurry.datastream._type_info import declared_type
from scurry.datastream.data_stream import DataStream
from scurry.errors import ArgumentTypeError, UnsupportedError
from scurry.graph.capture import capture
from scurry.graph.nodes import Node, OperatorNode, SourceNode

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from scurry.connectors.cache import CachedRecords
    from scurry.connectors.source import Source
    from scurry.graph.plan import JobPlan

__all__ = ["StreamExecutionEnvironment"]


class StreamExecutionEnvironment(ReadingShortcuts, ConfiguredEnvironment):
    """The context of a streaming program (Flink's `StreamExecutionEnvironment`).

    The `from_*` methods and other streams create streams; `execute` runs everything built since the last execution as
    a job. All settings are stored in one configuration.
    """

    _instead = {
        **STREAM_ENVIRONMENT,
        "read_text_file": "call from_source(...) with FileSource.for_record_stream_format(...)",
        "read_file": "call from_source(...) with a FileSource",
        "from_elements": "call from_collection([...])",
        "from_kafka": "call from_source(...) with a KafkaSource, or read_kafka(...)",
        "sql_query": "StreamTableEnvironment.create(env) has sql_query(...)",
        "execute_sql": "StreamTableEnvironment.create(env) has execute_sql(...)",
        "run": "call execute()",
        "start": "call execute_async()",
    }

    def __init__(self, configuration: Configuration | None = None) -> None:
        """Create an environment; programs call `get_execution_environment`, which also reads the command line."""
        super().__init__(configuration)
        self._operators: list[OperatorNode] = []
        self._captures = True
        self._caches: list[CachedRecords] = []

    def __repr__(self) -> str:
        """Return the text for notebooks: `<StreamExecutionEnvironment, parallelism 4, 2 operators to execute>`."""
        count = len(self._operators)
        left = f", {count} operator{'s' * (count != 1)} to execute" if count else ""
        return f"<StreamExecutionEnvironment, parallelism {self.get_parallelism()}{left}>"

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled with a function: workers have no environment."""
        raise TypeError("the environment cannot be used inside a function: pass what the function needs of it")

    @staticmethod
    def get_execution_environment(configuration: Configuration | None = None) -> StreamExecutionEnvironment:
        """Return a new environment.

        Args:
            configuration: Its settings; options of the `scurry` command override them.

        Raises:
            UnknownConfigError: A key is not known.
            ConfigError: A value cannot be used.
        """
        from scurry.common._process import launch

        merged = Configuration(configuration)
        for key, value in launch.current().overrides().items():
            merged.set_string(key, value)
        validate(merged)
        launch.environment_made(merged.to_dict())
        return StreamExecutionEnvironment(merged)

    # ------------------------------------------------------------------ sources

    def from_source(
        self,
        source: Source,
        watermark_strategy: WatermarkStrategy | None,
        source_name: str,
        type_info: DeclaredType[T] | None = None,
    ) -> DataStream[T]:
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

    def add_source(
        self, source_func: Any, source_name: str = "Custom Source", type_info: DeclaredType[Any] | None = None
    ) -> DataStream[Any]:
        """Return a stream of the records of a source that PyFlink has as a source function, such as `RMQSource`.

        Args:
            source_func: The source.
            source_name: Name of the operator.
            type_info: Declared type of the records; None takes what the source says.

        Raises:
            UnsupportedError: A function that is written in Java.
        """
        from scurry.connectors.source import Source

        if isinstance(source_func, Source):
            return self.from_source(source_func, None, source_name, type_info)
        raise UnsupportedError(
            "add_source takes functions written in Java, which scurry does not run: use from_source with a source from "
            "datastream.connectors or one of your own (docs/connectors/user-defined.md), or from_spark"
        )

    @overload
    def from_collection(self, collection: Iterable[T], type_info: None = None) -> DataStream[T]: ...
    @overload
    def from_collection(self, collection: Iterable[Any], type_info: DeclaredType[T]) -> DataStream[T]: ...
    def from_collection(self, collection: Iterable[Any], type_info: DeclaredType[Any] | None = None) -> DataStream[Any]:
        """Return a stream of the elements of a collection.

        Args:
            collection: The elements; the iterable is read immediately.
            type_info: Their declared type; None does not convert them.

        Raises:
            TypeMismatchError: An element does not fit the type.
        """
        from scurry.connectors.collection import CollectionSource

        source = CollectionSource(collection, declared_type(type_info, "type_info"))
        return self._source(source, None, "Collection Source", source.produced_type)

    def create_input(self, input_format: InputFormat, type_info: DeclaredType[T] | None = None) -> DataStream[T]:
        """Return a bounded stream of an input format, such as an `AvroInputFormat`.

        Args:
            input_format: What to read.
            type_info: Declared type of the records; None takes what the format says.
        """
        if not isinstance(input_format, InputFormat):
            raise ArgumentTypeError(f"create_input takes an InputFormat, got {input_format!r}")
        source = input_format.create_source()
        declared = declared_type(type_info, "type_info") or source.produced_type
        return self._source(source, None, "Custom File Source", declared)

    def from_spark(
        self,
        dataframe: DataFrame,
        watermark_strategy: WatermarkStrategy | None = None,
        source_name: str = "Spark DataFrame",
        type_info: DeclaredType[T] | None = None,
    ) -> DataStream[T]:
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

    def socket_text_stream(self, host: str, port: int) -> DataStream[str]:
        """Return a stream of the lines a server sends; for demonstrations: a failure can lose lines."""
        from scurry.common.typeinfo import Types
        from scurry.connectors.socket import SocketSource

        return self._source(SocketSource(host, port), None, "Socket Stream", Types.STRING())

    def _source(
        self, source: Source, watermark_strategy: WatermarkStrategy | None, name: str, type_info: Any
    ) -> DataStream[Any]:
        if watermark_strategy is not None and not isinstance(watermark_strategy, WatermarkStrategy):
            raise ArgumentTypeError(f"expected a WatermarkStrategy, got {watermark_strategy!r}")
        node = SourceNode(
            name=name,
            output_type=source.produced_type if type_info is None else type_info,
            source=source,
            watermark_strategy=watermark_strategy,
        )
        self._capture(node)
        return DataStream(self, node)

    def _stream(self, node: OperatorNode) -> DataStream[Any]:
        """Return the stream of an operator that another part of the program has made, such as a table."""
        self._register(node)
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
            JobCancelledError: The job was cancelled before its end.
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
        """Return the execution plan, as JSON text.

        Raises:
            TopologyError: Nothing was built.
        """
        return self._plan(None).to_json()

    def close(self) -> None:
        """Discard operators that were not executed, and delete cached streams; running jobs continue."""
        from scurry.common._process import launch

        launch.operators_planned(id(self))
        self._operators.clear()
        for records in self._caches:
            records.clear()

    def _new_cache(self) -> CachedRecords:
        from scurry.connectors.cache import CachedRecords

        records = CachedRecords(self._configuration.get(CACHE_DIR))
        self._caches.append(records)
        return records

    def _capture(self, node: Node) -> None:
        """Keep the functions of a node as they are now, as Flink does; a test harness runs the objects themselves."""
        if self._captures:
            capture(node)

    def _register(self, node: OperatorNode) -> None:
        from scurry.common._process import launch

        launch.operator_built(id(self), node.origin.file, node.origin.line)
        self._operators.append(node)

    def _plan(self, job_name: str | None) -> JobPlan:
        from scurry.common._process import launch

        launch.operators_planned(id(self))
        parameters = self._config.get_global_job_parameters()
        return job_plan(self._operators, self._configuration, self._config.get_parallelism(), job_name, parameters)

    def _submit(self, job_name: str | None) -> JobClient:
        plan = self._plan(job_name)
        self._operators.clear()
        return submit_job(plan, self._configuration)
