"""Constants as user-defined functions get them, which was asked of PyFlink 2.3."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from scurry.table import DataTypes
from scurry.table.expressions import lit
from scurry.table.udf import udf
from support.statements.tables import environment, rows

shown = udf(lambda *values: repr(values), result_type=DataTypes.STRING())


@pytest.mark.parametrize(
    ("constant", "expected"),
    [
        ("CAST(1.05 AS DECIMAL)", Decimal("1.05")),
        ("CAST(1.05 AS DECIMAL(10, 3))", Decimal("1.05")),
        ("CAST(1 AS DECIMAL(5, 2))", Decimal("1")),
        ("CAST(15 AS DECIMAL(2, 0))", Decimal("15")),
        ("CAST(CAST(1.55 AS DECIMAL(3, 1)) AS DECIMAL)", Decimal("1.55")),
        ("CAST(123456789.5 AS DECIMAL(4, 1))", None),
        ("CAST('1.05' AS DECIMAL)", Decimal("1")),
        ("CAST(1.05 AS DECIMAL) + 1", Decimal("2")),
        ("-CAST(1.05 AS DECIMAL)", Decimal("-1")),
        ("1.50", Decimal("1.50")),
    ],
)
def test_a_number_that_is_cast_to_a_decimal_keeps_its_digits(constant: str, expected: Any) -> None:
    env = environment()
    env.create_temporary_system_function("shown", shown)
    assert rows(env, f"SELECT shown(a, {constant}) FROM (VALUES (1)) t(a)") == [(repr((1, expected)),)]


def test_so_does_one_of_the_table_api() -> None:
    table = environment().from_elements([(1,)], ["a"])
    number = lit(Decimal("1.05")).cast(DataTypes.DECIMAL(10, 0))
    with table.select(shown(number), number).execute().collect() as found:
        assert [tuple(row) for row in found] == [(repr((Decimal("1.05"),)), Decimal("1"))]
