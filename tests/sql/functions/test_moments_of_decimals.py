"""Variances of decimals that do not fit into their result are NULL, as in Flink 2.3."""

from __future__ import annotations

from decimal import Decimal

import pytest

from support.statements.tables import environment, rows

LARGEST = "9" * 36 + ".99"
VALUES = f"(VALUES (CAST('{LARGEST}' AS DECIMAL(38, 2))), (CAST('-{LARGEST}' AS DECIMAL(38, 2)))) AS t(d)"


@pytest.mark.parametrize(
    ("function", "found"), [("VAR_POP", None), ("VAR_SAMP", None), ("STDDEV_SAMP", None), ("AVG", Decimal("0.000000"))]
)
def test_of_the_largest_numbers(function: str, found: Decimal | None) -> None:
    assert rows(environment(False), f"SELECT {function}(d) FROM {VALUES}") == [(found,)]
