# mypy: disable-error-code="misc, untyped-decorator"
"""dev/python/table/operations/row_based_operations."""

from __future__ import annotations

from typing import Any

from support.documented_programs.registry import Tables, program


def pair() -> Any:
    from pyflink.table import DataTypes

    return DataTypes.ROW([DataTypes.FIELD("a", DataTypes.BIGINT()), DataTypes.FIELD("b", DataTypes.BIGINT())])


@program("row_based_operations: Map of a row")
def _(d: Tables) -> Any:
    from pyflink.common import Row
    from pyflink.table.udf import udf

    def mapped(row: Row) -> Row:
        return Row(row.a + 1, row.b * row.b)

    return d.numbers.map(udf(mapped, result_type=pair())).alias("x", "y")


@program("row_based_operations: Map of columns")
def _(d: Tables) -> Any:
    from pyflink.common import Row
    from pyflink.table.expressions import col
    from pyflink.table.udf import udf

    @udf(result_type=pair())
    def swapped(a: int, b: int) -> Row:
        return Row(b, a)

    return d.numbers.map(swapped(col("a"), col("b")))


@program("row_based_operations: Map of a DataFrame")
def _(d: Tables) -> Any:
    from pyflink.table.udf import udf

    return d.numbers.map(udf(lambda frame: frame * 2, result_type=pair(), func_type="pandas")).alias("a", "b")


@program("row_based_operations: FlatMap")
def _(d: Tables) -> Any:
    from pyflink.common import Row
    from pyflink.table import DataTypes
    from pyflink.table.udf import udtf

    @udtf(result_types=[DataTypes.INT(), DataTypes.STRING()])
    def split(row: Row) -> Any:
        for part in row[1].split(","):
            yield row[0], part

    table = d.t_env.from_elements([(1, "Hi,Flink"), (2, "Hello")], ["id", "data"])
    lines = []
    for each in (table.flat_map(split), table.join_lateral(split.alias("a", "b"))):
        with each.execute().collect() as rows:
            lines += [*each.get_schema().get_field_names(), *sorted(str(tuple(row)) for row in rows)]
    return lines


def _count_and_sum() -> Any:
    from pyflink.common import Row
    from pyflink.table.udf import AggregateFunction, udaf

    class CountAndSum(AggregateFunction):
        def get_value(self, accumulator: Row) -> Row:
            return Row(accumulator[0], accumulator[1])

        def create_accumulator(self) -> Row:
            return Row(0, 0)

        def accumulate(self, accumulator: Row, row: Row) -> None:
            accumulator[0] += 1
            accumulator[1] += row.b

        def retract(self, accumulator: Row, row: Row) -> None:
            accumulator[0] -= 1
            accumulator[1] -= row.b

        def get_accumulator_type(self) -> Any:
            return pair()

        def get_result_type(self) -> Any:
            return pair()

    function = CountAndSum()
    types = {"result_type": function.get_result_type(), "accumulator_type": function.get_accumulator_type()}
    return udaf(function, **types, name=str(function.__class__.__name__))


@program("row_based_operations: Aggregate", "streaming")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import col

    grouped = d.numbers.group_by(col("a")).aggregate(_count_and_sum().alias("c", "d"))
    return grouped.select(col("a"), col("c"), col("d"))


def _mean_and_max() -> Any:
    from pyflink.table import DataTypes
    from pyflink.table.udf import udaf

    fields = [DataTypes.FIELD("a", DataTypes.FLOAT()), DataTypes.FIELD("b", DataTypes.INT())]
    return udaf(lambda pd: (pd.b.mean(), pd.b.max()), result_type=DataTypes.ROW(fields), func_type="pandas")


@program("row_based_operations: Aggregate of a DataFrame", "batch")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import col

    return d.numbers.aggregate(_mean_and_max().alias("a", "b")).select(col("a"), col("b"))


@program("tableApi: Group Window Aggregate")
def _(d: Tables) -> Any:
    from pyflink.table.expressions import col, lit
    from pyflink.table.window import Tumble

    windows = d.orders.select(col("b"), col("rowtime")).window(Tumble.over(lit(1).hours).on(col("rowtime")).alias("w"))
    aggregated = windows.group_by(col("w")).aggregate(_mean_and_max().alias("d", "e"))
    return aggregated.select(col("w").rowtime, col("d"), col("e"))


@program("row_based_operations: FlatAggregate", "streaming")
def _(d: Tables) -> Any:
    from pyflink.common import Row
    from pyflink.table import DataTypes
    from pyflink.table.expressions import col
    from pyflink.table.udf import TableAggregateFunction, udtaf

    class Top2(TableAggregateFunction):
        def emit_value(self, accumulator: list[Any]) -> Any:
            yield Row(accumulator[0])
            yield Row(accumulator[1])

        def create_accumulator(self) -> list[Any]:
            return [None, None]

        def accumulate(self, accumulator: list[Any], row: Row) -> None:
            if row[0] is not None:
                if accumulator[0] is None or row[0] > accumulator[0]:
                    accumulator[1] = accumulator[0]
                    accumulator[0] = row[0]
                elif accumulator[1] is None or row[0] > accumulator[1]:
                    accumulator[1] = row[0]

        def get_accumulator_type(self) -> Any:
            return DataTypes.ARRAY(DataTypes.BIGINT())

        def get_result_type(self) -> Any:
            return DataTypes.ROW([DataTypes.FIELD("a", DataTypes.BIGINT())])

    rows = [(1, "Hi"), (3, "Hi"), (5, "Hi2"), (7, "Hi"), (2, "Hi")]
    table = d.t_env.from_elements(rows, ["a", "b"])
    return table.group_by(table.b).flat_aggregate(udtaf(Top2())).select(col("*"))
