"""RAND and RAND_INTEGER of a seed have the numbers of `java.util.Random`, as PyFlink 2.3.0 recorded."""

from __future__ import annotations

import pytest

from scurry.table import DataTypes, EnvironmentSettings, TableEnvironment
from scurry.table.expressions import col, rand, rand_integer


@pytest.fixture
def env() -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    made.get_config().set("scurry.runner", "local")
    return made


def test_a_seed_in_a_column_begins_anew_in_each_row(env: TableEnvironment) -> None:
    table = env.from_elements([(5,), (5,)], ["seed"])
    with table.select(rand(col("seed").cast(DataTypes.INT()))).execute().collect() as rows:
        assert [row[0] for row in rows] == [0.730519863614471] * 2


def test_a_written_seed_begins_one_generator(env: TableEnvironment) -> None:
    table = env.from_elements([(1,), (2,)], ["i"])
    with table.select(rand(42)).execute().collect() as rows:
        first, second = [row[0] for row in rows]
    assert first == 0.7275636800328681
    assert second != first


def test_bounds_of_whole_numbers(env: TableEnvironment) -> None:
    table = env.from_elements([(1,)], ["i"])
    with table.select(rand_integer(100, 42), rand_integer(64, 42)).execute().collect() as rows:
        assert [tuple(row) for row in rows] == [(30, 46)]
