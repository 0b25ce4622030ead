"""Table, TableEnvironment, and what tables are made of."""

from __future__ import annotations

from typing import Any

from scurry.common import Row
from scurry.table import (
    DataTypes,
    EnvironmentSettings,
    Schema,
    Table,
    TableEnvironment,
)
from scurry.table.expressions import call, col, descriptor, lag, lead, lit, map_
from scurry.table.udf import (
    AggregateFunction,
    AsyncScalarFunction,
    FunctionContext,
    ScalarFunction,
    TableAggregateFunction,
    TableFunction,
    udaf,
    udf,
    udtaf,
    udtf,
)
from scurry.table.window import Over, Slide, Tumble

t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
t_env.get_config().set("parallelism.default", "1")


def results(table: Table) -> list[tuple[Any, ...]]:
    with table.execute().collect() as rows:
        return sorted((tuple(row) for row in rows), key=str)


# Types

everything = DataTypes.ROW(
    [
        DataTypes.FIELD("nothing", DataTypes.NULL()),
        DataTypes.FIELD("c", DataTypes.CHAR(3)),
        DataTypes.FIELD("vc", DataTypes.VARCHAR(10)),
        DataTypes.FIELD("s", DataTypes.STRING()),
        DataTypes.FIELD("b", DataTypes.BOOLEAN()),
        DataTypes.FIELD("bin", DataTypes.BINARY(2)),
        DataTypes.FIELD("vbin", DataTypes.VARBINARY(2)),
        DataTypes.FIELD("bytes", DataTypes.BYTES()),
        DataTypes.FIELD("d", DataTypes.DECIMAL(10, 2)),
        DataTypes.FIELD("i1", DataTypes.TINYINT()),
        DataTypes.FIELD("i2", DataTypes.SMALLINT()),
        DataTypes.FIELD("i4", DataTypes.INT()),
        DataTypes.FIELD("i8", DataTypes.BIGINT()),
        DataTypes.FIELD("f4", DataTypes.FLOAT()),
        DataTypes.FIELD("f8", DataTypes.DOUBLE()),
        DataTypes.FIELD("date", DataTypes.DATE()),
        DataTypes.FIELD("time", DataTypes.TIME()),
        DataTypes.FIELD("ts", DataTypes.TIMESTAMP(3)),
        DataTypes.FIELD("ltz", DataTypes.TIMESTAMP_LTZ(3)),
        DataTypes.FIELD("ltz2", DataTypes.TIMESTAMP_WITH_LOCAL_TIME_ZONE(3)),
        DataTypes.FIELD("a", DataTypes.ARRAY(DataTypes.INT())),
        DataTypes.FIELD("m", DataTypes.MAP(DataTypes.STRING(), DataTypes.INT())),
        DataTypes.FIELD("ms", DataTypes.MULTISET(DataTypes.STRING())),
        DataTypes.FIELD("span", DataTypes.INTERVAL(DataTypes.DAY(), DataTypes.SECOND(3))),
        DataTypes.FIELD("hours", DataTypes.INTERVAL(DataTypes.HOUR(), DataTypes.MINUTE())),
        DataTypes.FIELD("months", DataTypes.INTERVAL(DataTypes.YEAR(), DataTypes.MONTH())),
    ]
)
assert len(everything.field_names()) == 26
views = DataTypes.LIST_VIEW(DataTypes.INT()), DataTypes.MAP_VIEW(DataTypes.STRING(), DataTypes.INT())

# Tables from values, and to them

orders = t_env.from_elements([("ann", "tea", 3), ("bob", "tea", 4), ("ann", "jam", 5)], ["name", "item", "amount"])
name, item, amount = col("name"), col("item"), col("amount")
assert orders.get_schema().get_field_names() == ["name", "item", "amount"]
assert orders.get_resolved_schema().get_column_names() == ["name", "item", "amount"]
orders.print_schema()
frame = orders.to_pandas()
assert list(frame["amount"]) == [3, 4, 5]
assert results(t_env.from_pandas(frame)) == results(orders)
arrow = orders.to_arrow()
assert arrow.num_rows == 3
assert results(t_env.from_arrow(arrow)) == results(orders)

# Columns

assert results(orders.select(name, amount * 2).filter(name == "bob")) == [("bob", 8)]
assert results(orders.where(amount > 4)) == [("ann", "jam", 5)]
assert orders.alias("a", "b", "c").get_schema().get_field_names() == ["a", "b", "c"]
assert results(orders.add_columns((amount + 1).alias("more")).limit(1))[0][3] == 4
assert results(orders.add_or_replace_columns(lit(1).alias("amount")).limit(1))[0][2] == 1
assert orders.rename_columns(amount.alias("number")).get_schema().get_field_names()[2] == "number"
assert orders.drop_columns(amount).get_schema().get_field_names() == ["name", "item"]

# Rows

assert results(orders.select(name).distinct()) == [("ann",), ("bob",)]
by_amount = orders.order_by(amount.asc)
assert results(by_amount.fetch(1)) == [("ann", "tea", 3)]
assert results(by_amount.offset(2).fetch(1)) == [("ann", "jam", 5)]
assert results(by_amount.limit(1, 1)) == [("bob", "tea", 4)]
assert results(orders.group_by(name).select(name, amount.sum)) == [("ann", 8), ("bob", 4)]

# Two tables

prices = t_env.from_elements([("tea", 2), ("bun", 1)], ["product", "price"])
same = item == col("product")
assert len(results(orders.join(prices, same))) == 2
assert len(results(orders.left_outer_join(prices, same))) == 3
assert len(results(orders.right_outer_join(prices, same))) == 3
assert len(results(orders.full_outer_join(prices, same))) == 4
items, products = orders.select(item), prices.select(col("product").alias("item"))
assert results(items.union(products)) == [("bun",), ("jam",), ("tea",)]
assert len(results(items.union_all(products))) == 5
assert results(items.intersect(products)) == [("tea",)]
assert results(items.intersect_all(products)) == [("tea",)]
assert results(items.minus(products)) == [("jam",)]
assert results(items.minus_all(products)) == [("jam",), ("tea",)]

# Functions


class Shout(ScalarFunction):
    def open(self, function_context: FunctionContext) -> None:
        assert function_context.get_job_parameter("mark", "!") == "!"
        assert function_context.get_number_of_parallel_subtasks() == 1
        assert function_context.get_max_number_of_parallel_subtasks() >= 1
        assert function_context.get_index_of_this_subtask() == 0
        assert function_context.get_attempt_number() >= 0
        assert function_context.get_task_name() is not None
        assert function_context.get_task_name_with_subtasks() is not None

    def eval(self, word: str) -> str:
        return word + "!"

    def close(self) -> None:
        pass

    def is_deterministic(self) -> bool:
        return True


class Letters(TableFunction):
    def eval(self, word: str) -> Any:
        for letter in word:
            yield letter, 1


class Slow(AsyncScalarFunction):
    async def eval(self, word: str) -> str:
        return word.upper()


class Total(AggregateFunction):
    def create_accumulator(self) -> list[int]:
        return [0]

    def accumulate(self, accumulator: list[int], *args: Any) -> None:
        accumulator[0] += args[0]

    def retract(self, accumulator: list[int], *args: Any) -> None:
        accumulator[0] -= args[0]

    def merge(self, accumulator: list[int], accumulators: Any) -> None:
        accumulator[0] += sum(other[0] for other in accumulators)

    def get_value(self, accumulator: list[int]) -> int:
        return accumulator[0]

    def get_result_type(self) -> str:
        return "BIGINT"

    def get_accumulator_type(self) -> str:
        return "ARRAY<BIGINT>"


class TopTwo(TableAggregateFunction):
    def create_accumulator(self) -> list[int]:
        return []

    def accumulate(self, accumulator: list[int], *args: Any) -> None:
        accumulator.append(args[0])

    def emit_value(self, accumulator: list[int]) -> Any:
        for number in sorted(accumulator)[-2:]:
            yield Row(number)

    def get_result_type(self) -> str:
        return "ROW<a BIGINT>"

    def get_accumulator_type(self) -> str:
        return "ARRAY<BIGINT>"


shout = udf(Shout(), result_type=DataTypes.STRING())
letters = udtf(Letters(), result_types=[DataTypes.STRING(), DataTypes.INT()])
total = udaf(Total())
top_two = udtaf(TopTwo())
assert results(orders.select(shout(item)).distinct()) == [("jam!",), ("tea!",)]
assert len(results(orders.join_lateral(letters(item).alias("letter", "one")))) == 9
assert len(results(orders.left_outer_join_lateral(letters(item).alias("letter", "one")))) == 9
assert results(orders.group_by(name).select(name, total(amount))) == [("ann", 8), ("bob", 4)]
assert results(orders.aggregate(total(amount).alias("t")).select(col("t"))) == [(12,)]
longer = udf(lambda row: Row(row[0] * 2, row[2]), result_type="ROW<name STRING, amount BIGINT>")
assert results(orders.map(longer))[0] == ("annann", 3)
each = udtf(lambda row: [(row[0],)] * 2, result_types=[DataTypes.STRING()])
assert len(results(orders.flat_map(each))) == 6
t_env.create_temporary_system_function("slow", udf(Slow(), result_type="STRING"))
assert results(t_env.sql_query("SELECT slow('tea')")) == [("TEA",)]
t_env.create_temporary_function("shout", shout)
assert results(orders.select(call("shout", item)).distinct()) == [("jam!",), ("tea!",)]
assert "shout" in t_env.list_user_defined_functions()
assert len(t_env.list_functions()) > 100
t_env.drop_temporary_function("shout")
t_env.execute_sql("CREATE FUNCTION to_float AS 'math.fsum' LANGUAGE PYTHON")
t_env.drop_function("to_float")
t_env.drop_temporary_system_function("slow")

# Windows

schema = Schema.new_builder().column("k", "STRING").column("n", "BIGINT").column("ts", "TIMESTAMP(3)").build()
t_env.execute_sql(
    "CREATE TEMPORARY VIEW events AS SELECT k, n, CAST(ts AS TIMESTAMP(3)) AS ts FROM"
    " (VALUES ('a', 1, '2026-01-01 00:00:01'), ('a', 2, '2026-01-01 00:00:04'), ('a', 4, '2026-01-01 00:00:12'))"
    " AS t (k, n, ts)"
)
events = t_env.from_path("events")
k, n, ts = col("k"), col("n"), col("ts")


def sums(window: Any) -> list[Any]:
    windowed = events.window(window.alias("w")).group_by(k, col("w"))
    return [row[0] for row in results(windowed.select(n.sum, col("w").start, col("w").end, col("w").rowtime))]


assert sums(Tumble.over(lit(10).seconds).on(ts)) == [3, 4]
assert sums(Slide.over(lit(20).seconds).every(lit(10).seconds).on(ts)) == [3, 4, 7]

# The row before and the row after

of_key = events.over_window(Over.partition_by(k).order_by(ts).alias("w"))
beside = of_key.select(n, lag(n, 1, 0).over(col("w")), lead(n, 1, 0).over(col("w")))
assert sorted(map(tuple, results(beside))) == [(1, 0, 2), (2, 1, 4), (4, 2, 0)]

# Changes as rows with a code, and back

coded = t_env.from_elements([("c", "tea"), ("c", "rum"), ("d", "tea")], ["code", "drink"])
codes = map_("c", "INSERT", "d", "DELETE").as_argument("op_mapping")
drinks = coded.from_changelog(descriptor("code").as_argument("op"), codes)
assert [tuple(row) for row in results(drinks)] == [("rum",)]
assert [tuple(row) for row in results(drinks.to_changelog())] == [("INSERT", "rum")]
