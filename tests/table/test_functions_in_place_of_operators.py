"""A temporary system function hides the built-in one of its name, and in the Table API operators are such functions.

Which name each operator has was asked of PyFlink 2.3: `explain()` shows it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from scurry.table import DataTypes, EnvironmentSettings, Table, TableEnvironment
from scurry.table.expressions import call_sql, col, concat, if_then_else, not_
from scurry.table.udf import udf

OPERATORS: dict[str, Callable[[], Any]] = {
    "plus": lambda: col("a") + col("b"),
    "minus": lambda: col("a") - col("b"),
    "times": lambda: col("a") * 2,
    "divide": lambda: col("a") / 2,
    "mod": lambda: col("a") % 2,
    "power": lambda: col("a") ** 2,
    "minusPrefix": lambda: -col("a"),
    "and": lambda: col("c") & col("c"),
    "or": lambda: col("c") | col("c"),
    "not": lambda: not_(col("c")),
    "equals": lambda: col("a") == 1,
    "notEquals": lambda: col("a") != 1,
    "lessThan": lambda: col("a") < 1,
    "greaterThanOrEqual": lambda: col("a") >= 1,
    "isNull": lambda: col("a").is_null,
    "ifThenElse": lambda: if_then_else(col("c"), 1, 2),
    "upper": lambda: col("s").upper_case,
    "charLength": lambda: col("s").char_length,
    "initCap": lambda: col("s").init_cap,
    "concat": lambda: concat(col("s"), "a"),
    "at": lambda: col("l").at(1),
}


@pytest.fixture
def env() -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    made.get_config().set("scurry.runner", "local")
    return made


@pytest.fixture
def table(env: TableEnvironment) -> Table:
    return env.from_elements([(3, 2, "s", True, [1])], ["a", "b", "s", "c", "l"])


def values(table: Table) -> list[tuple[Any, ...]]:
    with table.execute().collect() as rows:
        return [tuple(row) for row in rows]


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_calls_the_function_of_its_name(env: TableEnvironment, table: Table, name: str) -> None:
    env.create_temporary_system_function(name, udf(lambda *given: "mine", result_type=DataTypes.STRING()))
    assert values(table.select(OPERATORS[name]())) == [("mine",)]


def test_the_operators_of_sql_stay_what_they_are(env: TableEnvironment, table: Table) -> None:
    env.create_temporary_system_function("plus", udf(lambda a, b: 10 * a + b, result_type=DataTypes.BIGINT()))
    env.create_temporary_view("t", table)
    assert values(env.sql_query("SELECT a + b, plus(a, b) FROM t")) == [(5, 32)]
    assert values(table.select(call_sql("a + b").alias("x"), col("a") + col("b"))) == [(5, 32)]


def test_functions_of_a_database_hide_no_operator(env: TableEnvironment, table: Table) -> None:
    env.create_temporary_function("plus", udf(lambda a, b: 0, result_type=DataTypes.BIGINT()))
    assert values(table.select(col("a") + col("b"))) == [(5,)]
