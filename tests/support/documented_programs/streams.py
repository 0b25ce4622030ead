# mypy: disable-error-code="misc, untyped-decorator"
"""concepts/time_attributes, and the tutorial of the Table API."""

from __future__ import annotations

from typing import Any

from support.documented_programs.registry import Tables, program


def actions() -> tuple[Any, Any]:
    """A stream of users' actions with timestamps and watermarks, and its environment for tables."""
    from pyflink.common import Duration, Types, WatermarkStrategy
    from pyflink.common.watermark_strategy import TimestampAssigner
    from pyflink.datastream import StreamExecutionEnvironment
    from pyflink.table import StreamTableEnvironment

    class First(TimestampAssigner):
        def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
            return int(value[0])

    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    found = [(1000, "ann", "x"), (500_000, "bob", "y"), (700_000, "ann", "z")]
    kind = Types.ROW_NAMED(["user_action_time", "user_name", "data"], [Types.LONG(), Types.STRING(), Types.STRING()])
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(5))
    stream = env.from_collection(found, kind)
    timed = stream.assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(First()))
    return timed, StreamTableEnvironment.create(env)


def windowed(table: Any) -> Any:
    from pyflink.table.expressions import col, lit
    from pyflink.table.window import Tumble

    window = Tumble.over(lit(10).minutes).on(col("user_action_time")).alias("userActionWindow")
    grouped = table.window(window).group_by(col("userActionWindow"))
    return grouped.select(col("userActionWindow").start.alias("s"), col("user_name").count.alias("n"))


@program("time_attributes: event time in a column that is added", "streaming")
def _(_: Tables) -> Any:
    from pyflink.common import Types
    from pyflink.table.expressions import col

    stream, t_env = actions()
    pairs = stream.map(lambda row: (row[1], row[2]), Types.TUPLE([Types.STRING(), Types.STRING()]))
    columns = [col("user_name"), col("data"), col("user_action_time").rowtime]
    return windowed(t_env.from_data_stream(pairs, *columns))


@program("time_attributes: event time in a column that is replaced", "streaming")
def _(_: Tables) -> Any:
    from pyflink.table.expressions import col

    stream, t_env = actions()
    columns = [col("user_action_time").rowtime, col("user_name"), col("data")]
    return windowed(t_env.from_data_stream(stream, *columns))


@program("time_attributes: processing time", "streaming")
def _(_: Tables) -> Any:
    from pyflink.table.expressions import col

    stream, t_env = actions()
    columns = [col("user_action_time"), col("user_name"), col("data"), col("now").proctime]
    table = t_env.from_data_stream(stream, *columns)
    return [
        *table.get_schema().get_field_names(),
        *sorted(str(row) for row in table.drop_columns(col("now")).execute().collect()),
    ]


@program("time_attributes: processing time of a declared table", "streaming")
def _(d: Tables) -> Any:
    d.t_env.execute_sql(
        "CREATE TABLE user_actions (user_name STRING, data STRING, user_action_time AS PROCTIME()) "
        "WITH ('connector' = 'datagen')"
    )
    query = (
        "SELECT TUMBLE_START(user_action_time, INTERVAL '10' MINUTE), COUNT(DISTINCT user_name) "
        "FROM user_actions GROUP BY TUMBLE(user_action_time, INTERVAL '10' MINUTE)"
    )
    return [
        *d.t_env.from_path("user_actions").get_schema().get_field_names(),
        str(d.t_env.sql_query(query).get_schema()),
    ]


@program("table_api_tutorial: word count", "streaming")
def _(d: Tables) -> Any:
    from pathlib import Path

    from pyflink.common import Row
    from pyflink.table import DataTypes, FormatDescriptor, Schema, TableDescriptor
    from pyflink.table.expressions import col, lit
    from pyflink.table.udf import udtf

    (Path(d.directory) / "words.csv").write_text("to be or\nnot to be\n")
    files = TableDescriptor.for_connector("filesystem")
    line = Schema.new_builder().column("word", DataTypes.STRING()).build()
    read = files.schema(line).option("path", f"{d.directory}/words.csv").format("csv").build()
    d.t_env.create_temporary_table("source", read)
    counted = Schema.new_builder().column("word", DataTypes.STRING()).column("count", DataTypes.BIGINT()).build()
    written = TableDescriptor.for_connector("filesystem").schema(counted).option("path", f"{d.directory}/sink")
    form = FormatDescriptor.for_format("canal-json").build()
    d.t_env.create_temporary_table("sink", written.format(form).build())

    @udtf(result_types=[DataTypes.STRING()])
    def split(line: Row) -> Any:
        for each in line[0].split():
            yield Row(each)

    table = d.t_env.from_path("source").flat_map(split).alias("word").group_by(col("word"))
    table.select(col("word"), lit(1).count).execute_insert("sink").wait()
    return sorted(line for file in Path(f"{d.directory}/sink").iterdir() for line in file.read_text().splitlines())


@program("python/table/udfs: resources that are loaded when a pandas function is opened")
def _(d: Tables) -> Any:
    import pickle
    from pathlib import Path

    from pyflink.table import DataTypes
    from pyflink.table.udf import ScalarFunction, udf

    path = Path(d.directory) / "model.pkl"
    path.write_bytes(pickle.dumps({"factor": 3}))

    class Predict(ScalarFunction):
        def open(self, function_context: Any) -> None:
            self.factor = pickle.loads(path.read_bytes())["factor"]

        def eval(self, x: Any) -> Any:
            return x * self.factor

    predict = udf(Predict(), result_type=DataTypes.DOUBLE(), func_type="pandas")
    return d.numbers.select(predict(d.numbers.a))
