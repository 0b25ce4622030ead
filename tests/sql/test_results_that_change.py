"""What a function of tables has returned stays as it was, though the function changes the object later."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from scurry.common import Configuration, Row
from scurry.table import DataTypes, EnvironmentSettings, TableEnvironment
from scurry.table.udf import AggregateFunction, ScalarFunction, udaf, udf, udtf

NUMBERS = DataTypes.ARRAY(DataTypes.INT())


@pytest.fixture(params=["streaming", "batch"])
def env(request: pytest.FixtureRequest) -> TableEnvironment:
    configuration = Configuration()
    configuration.set_string("scurry.runner", "local")
    configuration.set_string("execution.runtime-mode", request.param)
    configuration.set_string("parallelism.default", "1")
    settings = EnvironmentSettings.new_instance().with_configuration(configuration).build()
    env = TableEnvironment.create(settings)
    env.create_temporary_view("t", env.from_elements([(1,), (2,), (3,)], ["n"]))
    return env


def rows(env: TableEnvironment, query: str) -> list[tuple[Any, ...]]:
    with env.execute_sql(query).collect() as found:
        return sorted(tuple(row) for row in found)


class Seen(ScalarFunction):
    def open(self, function_context: Any) -> None:
        self.seen: list[int] = []

    def eval(self, n: int) -> list[int]:
        self.seen.append(n)
        return self.seen


def test_a_list_that_a_scalar_function_fills(env: TableEnvironment) -> None:
    env.create_temporary_function("seen", udf(Seen(), result_type=NUMBERS))
    assert rows(env, "SELECT seen(CAST(n AS INT)) FROM t") == [([1],), ([1, 2],), ([1, 2, 3],)]


def test_a_row_that_a_table_function_fills(env: TableEnvironment) -> None:
    def one_row(n: int) -> Iterator[Row]:
        row = Row(0, [])
        for i in range(n):
            row[0] = i
            row[1].append(i)
            yield row

    env.create_temporary_function("one_row", udtf(one_row, result_types=[DataTypes.INT(), NUMBERS]))
    found = rows(env, "SELECT i, x FROM t, LATERAL TABLE(one_row(CAST(n AS INT))) AS r(i, x) WHERE n > 1")
    assert found == [(0, [0]), (0, [0]), (1, [0, 1]), (1, [0, 1]), (2, [0, 1, 2])]


def test_a_list_that_an_aggregate_function_holds_for_all_groups(env: TableEnvironment) -> None:
    class Groups(AggregateFunction[Any, Any]):
        def open(self, function_context: Any) -> None:
            self.groups: list[int] = []

        def create_accumulator(self) -> list[int]:
            return [0]

        def accumulate(self, accumulator: list[int], n: int) -> None:
            accumulator[0] += n

        def get_value(self, accumulator: list[int]) -> list[int]:
            self.groups.append(accumulator[0])
            return self.groups

        def get_result_type(self) -> Any:
            return NUMBERS

        def get_accumulator_type(self) -> Any:
            return NUMBERS

    env.create_temporary_function("held", udaf(Groups()))
    lengths = [len(numbers) for _, numbers in rows(env, "SELECT n, held(CAST(n AS INT)) FROM t GROUP BY n")]
    assert sorted(lengths) == [1, 2, 3]


def test_a_constant_is_given_anew_for_each_row(env: TableEnvironment) -> None:
    def plus(values: list[int], n: int) -> list[int]:
        values.append(n)
        return values

    env.create_temporary_function("plus", udf(plus, result_type=NUMBERS))
    assert rows(env, "SELECT plus(ARRAY[0], CAST(n AS INT)) FROM t") == [([0, 1],), ([0, 2],), ([0, 3],)]
