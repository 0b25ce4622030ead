"""Queries that Flink refuses, with the texts it refuses them with."""

from __future__ import annotations

import pytest

from scurry.errors import ValidationError
from scurry.sql.types import IntType, VarCharType
from support.queries import Tables


@pytest.fixture
def tables() -> Tables:
    found = Tables()
    found.add("t", {"id": IntType(), "name": VarCharType(0x7FFFFFFF)})
    found.add("b", {"id": IntType(), "flag": IntType()})
    return found


REFUSED = {
    "SELECT Id FROM t": (
        "From line 1, column 8 to line 1, column 9: Column 'Id' not found in any table; did you mean 'id'?"
    ),
    "SELECT t.nope FROM t": "From line 1, column 10 to line 1, column 13: Column 'nope' not found in table 't'",
    "SELECT x.id FROM t": "At line 1, column 8: Table 'x' not found",
    "SELECT id FROM t, b": "From line 1, column 8 to line 1, column 9: Column 'id' is ambiguous",
    "SELECT NULL": "From line 1, column 8 to line 1, column 11: Illegal use of 'NULL'",
    "SELECT name FROM t GROUP BY id": (
        "From line 1, column 8 to line 1, column 11: Expression 'name' is not being grouped"
    ),
    "SELECT id FROM t WHERE COUNT(*) > 1": (
        "From line 1, column 24 to line 1, column 31: Aggregate expression is illegal in WHERE clause"
    ),
    "SELECT id FROM t GROUP BY id HAVING name = 'a'": (
        "From line 1, column 37 to line 1, column 40: Expression 'name' is not being grouped"
    ),
    "SELECT id, COUNT(*) FROM t GROUP BY 5": (
        "From line 1, column 8 to line 1, column 9: Expression 'id' is not being grouped"
    ),
    "SELECT id FROM t ORDER BY 5": "At line 1, column 27: Ordinal out of range",
    "SELECT id FROM t WHERE id NOT IN (SELECT nope FROM b)": (
        "From line 1, column 42 to line 1, column 45: Column 'nope' not found in any table"
    ),
    "SELECT INTERVAL '1 2' DAY": (
        "From line 1, column 8 to line 1, column 25: Illegal interval literal format '1 2' for INTERVAL DAY"
    ),
    "SELECT *": "At line 1, column 8: SELECT * requires a FROM clause",
}


@pytest.mark.parametrize("query", REFUSED)
def test_refused(tables: Tables, query: str) -> None:
    with pytest.raises(ValidationError) as raised:
        tables.plan(query)
    assert str(raised.value) == f"SQL validation failed. {REFUSED[query]}"


def test_a_property_of_a_window_without_the_window_is_no_call(tables: Tables) -> None:
    with pytest.raises(ValidationError, match=r"Unsupported call: TUMBLE_START\(INT, INTERVAL SECOND\(3\) NOT NULL\)"):
        tables.plan("SELECT TUMBLE_START(id, INTERVAL '1' MINUTE) FROM t")
