"""Programs for earlier versions of PyFlink learn at once what to write instead of what Flink 2 has removed."""

from __future__ import annotations

import pytest

import scurry.pyflink_alias  # noqa: F401
from scurry.common import Types
from scurry.datastream import StreamExecutionEnvironment
from scurry.errors import ArgumentTypeError, MissingAttributeError, ValidationError
from scurry.table import EnvironmentSettings, StreamTableEnvironment, TableConfig
from scurry.table.expressions import col
from scurry.table.window import Slide, Tumble


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment()


@pytest.fixture
def t_env(env: StreamExecutionEnvironment) -> StreamTableEnvironment:
    return StreamTableEnvironment.create(env)


@pytest.mark.parametrize(
    ("statement", "advice"),
    [
        ("from pyflink.datastream import TimeCharacteristic", "time is event time where a stream has watermarks"),
        ("from pyflink.datastream import RocksDBStateBackend", "use EmbeddedRocksDBStateBackend; where checkpoints"),
        ("from pyflink.datastream.state_backend import FsStateBackend", "use HashMapStateBackend"),
        (
            "from pyflink.datastream.checkpoint_config import ExternalizedCheckpointCleanup",
            "use ExternalizedCheckpointRetention",
        ),
        (
            "from pyflink.common.serialization import JsonRowDeserializationSchema",
            r"import it from pyflink\.datastream\.formats\.json",
        ),
        (
            "from pyflink.common.watermark_strategy import AscendingTimestampExtractor",
            r"WatermarkStrategy\.for_monotonous_timestamps\(\)",
        ),
        ("from pyflink.table import BatchTableEnvironment", r"EnvironmentSettings\.in_batch_mode\(\)"),
        ("from pyflink.table import CsvTableSink", "CREATE TABLE"),
        ("from pyflink.table.udf import vectorized_udf", "func_type='pandas'"),
    ],
)
def test_an_import_says_what_to_write_instead(statement: str, advice: str) -> None:
    with pytest.raises(ImportError, match=f"PyFlink 2.3: .*{advice}"):
        exec(statement)


@pytest.mark.parametrize(
    ("module", "advice"),
    [
        ("pyflink.dataset", "the DataSet API has been removed"),
        ("pyflink.table.descriptors", "CREATE TABLE"),
        ("pyflink.table.sinks", "CREATE TABLE"),
        ("pyflink.java_gateway", "no Java runs behind scurry's API"),
    ],
)
def test_an_import_of_a_module_says_what_to_write_instead(module: str, advice: str) -> None:
    with pytest.raises(ModuleNotFoundError, match=f"scurry does not offer {module}: .*{advice}"):
        exec(f"import {module}")


def test_names_that_never_were_are_plain_import_errors() -> None:
    with pytest.raises(ImportError, match="cannot import name 'Nonsense'"):
        exec("from pyflink.datastream import Nonsense")


def test_a_program_can_ask_whether_a_name_is_there() -> None:
    statement = "try:\n    from pyflink.datastream import TimeCharacteristic\nexcept ImportError:\n    found = False"
    names: dict[str, bool] = {}
    exec(statement, names)
    assert names["found"] is False


@pytest.mark.parametrize(
    ("method", "advice"),
    [
        ("connect", "CREATE TABLE"),
        ("scan", r"from_path\(name\)"),
        ("insert_into", r"table\.execute_insert\(name\)"),
        ("register_table_source", "CREATE TABLE"),
        ("register_table_sink", "CREATE TABLE"),
        ("register_table", r"create_temporary_view\(name, table\)"),
        ("register_function", r"create_temporary_system_function\(name, function\)"),
        ("sql_update", r"execute_sql\(\.\.\.\)"),
        ("execute", "run the job themselves"),
        ("explain", r"explain_sql\(\.\.\.\)"),
    ],
)
def test_methods_of_a_table_environment(t_env: StreamTableEnvironment, method: str, advice: str) -> None:
    with pytest.raises(MissingAttributeError, match=f"has no attribute '{method}': .*{advice}"):
        getattr(t_env, method)


@pytest.mark.parametrize(
    ("method", "advice"),
    [
        ("set_stream_time_characteristic", "leave it out: time is event time where"),
        ("generate_sequence", "NumberSequenceSource"),
        ("_j_stream_execution_environment", "no objects of Java"),
    ],
)
def test_methods_of_an_environment(env: StreamExecutionEnvironment, method: str, advice: str) -> None:
    with pytest.raises(MissingAttributeError, match=f"has no attribute '{method}': .*{advice}"):
        getattr(env, method)


def test_methods_of_settings(env: StreamExecutionEnvironment) -> None:
    with pytest.raises(MissingAttributeError, match="set_externalized_checkpoint_retention"):
        env.get_checkpoint_config().enable_externalized_checkpoints("RETAIN_ON_CANCELLATION")  # type: ignore[attr-defined]
    with pytest.raises(MissingAttributeError, match=r"restart-strategy\.type"):
        env.get_config().set_restart_strategy(None)  # type: ignore[attr-defined]
    with pytest.raises(MissingAttributeError, match="there is one planner"):
        EnvironmentSettings.new_instance().use_blink_planner()  # type: ignore[attr-defined]
    with pytest.raises(MissingAttributeError, match="parallelism.default"):
        TableConfig().set_default_parallelism(1)  # type: ignore[attr-defined]


def test_methods_of_streams(env: StreamExecutionEnvironment) -> None:
    numbers = env.from_collection([1], Types.INT())
    with pytest.raises(MissingAttributeError, match=r"window\(TumblingEventTimeWindows"):
        numbers.key_by(lambda number: number).time_window(5)  # type: ignore[attr-defined]
    with pytest.raises(MissingAttributeError, match="OutputTag"):
        numbers.split(lambda number: ["even"])  # type: ignore[attr-defined]
    with pytest.raises(MissingAttributeError, match="FileSink"):
        numbers.write_as_text("/tmp/out")  # type: ignore[attr-defined]


@pytest.mark.parametrize("text", ["a, b", "a.count as c", "count(1) as c", "a > 1", "a.desc"])
def test_expressions_in_texts(t_env: StreamTableEnvironment, text: str) -> None:
    table = t_env.from_elements([(1, "x")], ["a", "b"])
    with pytest.raises(ValidationError, match=r"Cannot resolve field .*Expressions in texts have been removed"):
        table.select(text)  # type: ignore[arg-type]


def test_a_misspelt_column_is_no_text_of_an_expression(t_env: StreamTableEnvironment) -> None:
    with pytest.raises(ValidationError, match="Did you mean amount") as caught:
        t_env.from_elements([(1,)], ["amount"]).select(col("amont"))
    assert "texts" not in str(caught.value)


def test_lengths_of_windows_in_texts() -> None:
    with pytest.raises(ArgumentTypeError, match=r"lit\(10\)\.minutes"):
        Tumble.over("10.minutes")  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match=r"lit\(10\)\.minutes"):
        Slide.over("60.seconds")  # type: ignore[arg-type]
