# mypy: disable-error-code="misc, untyped-decorator"
"""dev/python/table/udfs: functions of users."""

from __future__ import annotations

import functools
from typing import Any

from support.documented_programs.operations import split
from support.documented_programs.registry import Tables, program
from support.documented_programs.row_based import pair


@program("python_udfs: the ways to define a scalar function")
def _(d: Tables) -> Any:
    from pyflink.table import DataTypes, ScalarFunction
    from pyflink.table.expressions import call, col
    from pyflink.table.udf import udf

    class Add(ScalarFunction):
        def eval(self, i: int, j: int) -> int:
            return i + j

    class CallableAdd:
        def __call__(self, i: int, j: int) -> int:
            return i + j

    def partial_add(i: int, j: int, k: int) -> int:
        return i + j + k

    @udf(result_type=DataTypes.BIGINT())
    def add(i: int, j: int) -> int:
        return i + j

    options = [
        udf(Add(), result_type=DataTypes.BIGINT()),
        add,
        udf(lambda i, j: i + j, result_type=DataTypes.BIGINT()),
        udf(CallableAdd(), result_type=DataTypes.BIGINT()),
        udf(functools.partial(partial_add, k=1), result_type=DataTypes.BIGINT()),
    ]
    d.t_env.create_temporary_function("add", add)
    calls = [option(col("a"), col("b")).alias(f"c{place}") for place, option in enumerate(options)]
    return d.numbers.select(*calls, call(add, col("a"), col("b")), call("add", col("a"), col("b")))


@program("python_udfs: a scalar function in SQL")
def _(d: Tables) -> Any:
    from pyflink.table import DataTypes, ScalarFunction
    from pyflink.table.udf import udf

    class HashCode(ScalarFunction):
        def __init__(self) -> None:
            self.factor = 12

        def eval(self, s: int) -> int:
            return hash(s) * self.factor

    d.t_env.create_temporary_function("hash_code", udf(HashCode(), result_type=DataTypes.BIGINT()))
    return d.t_env.sql_query("SELECT a, b, hash_code(b) FROM Orders")


@program("python_udfs: the ways to define a table function")
def _(d: Tables) -> Any:
    from pyflink.table import DataTypes
    from pyflink.table.expressions import col
    from pyflink.table.udf import udtf

    @udtf(result_types=DataTypes.BIGINT())
    def generator_func(x: int) -> Any:
        yield 1
        yield 2

    @udtf(result_types=DataTypes.BIGINT())
    def iterator_func(x: int) -> Any:
        return range(2)

    @udtf(result_types=DataTypes.BIGINT())
    def iterable_func(x: int) -> Any:
        return [1, 2, 3]

    table = d.numbers.fetch(1) if d.mode == "batch" else d.t_env.from_elements([(1, 2)], ["a", "b"])
    table = table.join_lateral(generator_func(col("a")).alias("x"))
    return table.join_lateral(iterator_func(col("a")).alias("y")).join_lateral(iterable_func(col("b")).alias("z"))


@program("python_udfs: a table function in SQL")
def _(d: Tables) -> Any:
    d.t_env.create_temporary_function("split_words", split())
    return d.t_env.sql_query(
        "SELECT a, word, length FROM Orders LEFT JOIN LATERAL TABLE(split_words(c)) AS T(word, length) ON TRUE"
    )


def _weighted() -> Any:
    from pyflink.common import Row
    from pyflink.table import AggregateFunction, DataTypes

    class WeightedAvg(AggregateFunction):
        def create_accumulator(self) -> Row:
            return Row(0, 0)

        def get_value(self, accumulator: Row) -> Any:
            return accumulator[0] / accumulator[1] if accumulator[1] else None

        def accumulate(self, accumulator: Row, value: int, weight: int) -> None:
            accumulator[0] += value * weight
            accumulator[1] += weight

        def retract(self, accumulator: Row, value: int, weight: int) -> None:
            accumulator[0] -= value * weight
            accumulator[1] -= weight

        def get_result_type(self) -> Any:
            return DataTypes.DOUBLE()

        def get_accumulator_type(self) -> Any:
            return pair()

    return WeightedAvg()


@program("python_udfs: an aggregate function", "streaming")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import call, col
    from pyflink.table.udf import udaf

    d.t_env.create_temporary_function("weighted_avg", _weighted())
    weighted = udaf(_weighted())
    grouped = d.numbers.group_by(col("a"))
    return grouped.select(col("a"), weighted(col("b"), col("b")).alias("avg"), call("weighted_avg", col("b"), col("a")))


@program("python_udfs: an aggregate function in SQL", "streaming")
def _(d: Tables) -> Any:
    d.t_env.create_temporary_function("weighted_avg", _weighted())
    return d.t_env.sql_query("SELECT weighted_avg(b, b) AS w FROM Orders GROUP BY a")


@program("python_udfs: ListView", "streaming")
def _(d: Tables) -> Any:
    from pyflink.common import Row
    from pyflink.table import AggregateFunction, DataTypes, ListView
    from pyflink.table.expressions import col
    from pyflink.table.udf import udaf

    class Joined(AggregateFunction):
        def get_value(self, accumulator: Row) -> str:
            return str(accumulator[1]).join(accumulator[0])

        def create_accumulator(self) -> Row:
            return Row(ListView(), "")

        def accumulate(self, accumulator: Row, *args: Any) -> None:
            accumulator[1] = args[1]
            accumulator[0].add(args[0])

        def get_accumulator_type(self) -> Any:
            fields = [("f0", DataTypes.LIST_VIEW(DataTypes.STRING())), ("f1", DataTypes.STRING())]
            return DataTypes.ROW([DataTypes.FIELD(name, kind) for name, kind in fields])

        def get_result_type(self) -> Any:
            return DataTypes.STRING()

    return d.orders.group_by(col("a")).select(col("a"), udaf(Joined())(col("c"), "-").alias("joined"))


@program("vectorized_python_udfs: a scalar function")
def _(d: Tables) -> Any:
    from pyflink.table import DataTypes
    from pyflink.table.udf import udf

    @udf(result_type=DataTypes.BIGINT(), func_type="pandas")
    def add(i: Any, j: Any) -> Any:
        return i + j

    d.t_env.create_temporary_function("add", add)
    return d.orders.select(add(d.orders.b, d.orders.b)).union_all(d.t_env.sql_query("SELECT add(b, b) FROM Orders"))


@program("vectorized_python_udfs: the ways to define an aggregate function", "batch")
def _(d: Tables) -> Any:
    from pyflink.table import AggregateFunction, DataTypes
    from pyflink.table.expressions import col
    from pyflink.table.udf import udaf

    class MaxAdd(AggregateFunction):
        def open(self, function_context: Any) -> None:
            self.added = int(function_context.get_job_parameter("added", "0"))

        def get_value(self, accumulator: list[Any]) -> Any:
            return self.added + accumulator[0]

        def create_accumulator(self) -> list[Any]:
            return []

        def accumulate(self, accumulator: list[Any], *args: Any) -> None:
            accumulator.append(sum(arg.max() for arg in args))

    class CallableMaxAdd:
        def __call__(self, i: Any, j: Any) -> Any:
            return i.max() + j.max()

    def partial_max_add(i: Any, j: Any, k: int) -> Any:
        return i.max() + j.max() + k

    kind = {"result_type": DataTypes.BIGINT(), "func_type": "pandas"}
    options = [
        udaf(MaxAdd(), **kind),
        udaf(lambda i, j: i.max() + j.max(), **kind),
        udaf(CallableMaxAdd(), **kind),
        udaf(functools.partial(partial_max_add, k=1), **kind),
    ]
    calls = [option(col("a"), col("b")).alias(f"c{place}") for place, option in enumerate(options)]
    return d.numbers.group_by(col("a")).select(col("a"), *calls)


@program("vectorized_python_udfs: aggregates over windows", "batch")
def _(d: Tables) -> Any:
    from pyflink.table import DataTypes
    from pyflink.table.udf import udaf

    mean = udaf(lambda v: v.mean(), result_type=DataTypes.FLOAT(), func_type="pandas")
    d.t_env.create_temporary_function("mean_udaf", mean)
    return d.t_env.sql_query(
        "SELECT a, mean_udaf(b) OVER (PARTITION BY a ORDER BY rowtime "
        "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM Orders"
    )
