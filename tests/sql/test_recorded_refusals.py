"""Queries that Flink refuses, with the texts it refuses them with; recorded from PyFlink 2.3."""

from __future__ import annotations

import pytest

from scurry.errors import ValidationError
from scurry.sql.types import IntType, TimestampType, VarCharType
from support.queries import Tables


@pytest.fixture
def tables() -> Tables:
    found = Tables()
    found.add("t", {"a": IntType(), "b": IntType(False), "s": VarCharType(0x7FFFFFFF)})
    found.add("e", {"a": IntType(False), "ts": TimestampType(3, False)})
    return found


REFUSED = {
    "VALUES (1, 'a'), (2, NULL)": "From line 1, column 22 to line 1, column 25: Illegal use of 'NULL'",
    "SELECT * FROM t JOIN t ON TRUE": "At line 1, column 22: Duplicate relation name 't' in FROM clause",
    "SELECT * FROM t LEFT JOIN e": (
        "From line 1, column 22 to line 1, column 25: INNER, LEFT, RIGHT or FULL join requires a conditio"
        "n (NATURAL keyword or ON or USING clause)"
    ),
    "SELECT a, b FROM t UNION SELECT a FROM t": "At line 1, column 33: Column count mismatch in UNION",
    "SELECT a FROM t UNION SELECT TRUE": "At line 1, column 8: Type mismatch in column 1 of UNION",
    "SELECT ROW_NUMBER() FROM t": (
        "From line 1, column 8 to line 1, column 19: OVER clause is necessary for window functions"
    ),
    "SELECT a FROM t WHERE b": "At line 1, column 23: WHERE clause must be a condition",
    "SELECT MAX(MAX(a)) FROM t": "From line 1, column 8 to line 1, column 18: Aggregate expressions cannot be nested",
    "SELECT a FROM t ORDER BY 3": "At line 1, column 26: Ordinal out of range",
    "SELECT nope(a) FROM t": (
        "From line 1, column 8 to line 1, column 14: No match found for function signature nope(<NUMERIC>)"
    ),
    "SELECT COUNT(a) OVER nowin FROM t": "From line 1, column 22 to line 1, column 26: Window 'nowin' not found",
    "SELECT * FROM TABLE(nofun(1))": (
        "From line 1, column 21 to line 1, column 28: No match found for function signature nofun(<NUMERIC>)"
    ),
    "SELECT t2.* FROM t": "From line 1, column 8 to line 1, column 9: Unknown identifier 't2'",
    "SELECT a.b.c FROM t": "From line 1, column 8 to line 1, column 10: Table 'a.b' not found",
    "SELECT DISTINCT a FROM t ORDER BY b": "At line 1, column 35: Expression 'b' is not in the select clause",
    "SELECT CAST('a' AS NOPE)": "From line 1, column 20 to line 1, column 23: Unknown identifier 'NOPE'",
    "SELECT 1 FROM t GROUP BY SUM(a)": (
        "From line 1, column 26 to line 1, column 31: Aggregate expression is illegal in GROUP BY clause"
    ),
    "SELECT nope(a, 'x', TRUE, DATE '2020-01-01') FROM t": (
        "From line 1, column 8 to line 1, column 44: No match found for function signature nope(<NUMERIC>"
        ", <CHARACTER>, <BOOLEAN>, <DATE>)"
    ),
    "SELECT * FROM (SELECT a AS x, b AS x FROM t)": "At line 1, column 8: Column 'x' is ambiguous",
    "SELECT x FROM (SELECT a AS x, b AS x FROM t)": "At line 1, column 8: Column 'x' is ambiguous",
    "SELECT * FROM t AS q (x, y)": (
        "From line 1, column 23 to line 1, column 26: List of column aliases must have same degree as tab"
        "le; table has 3 columns ('a', 'b', 's'), whereas alias list has 2 columns"
    ),
    "SELECT * FROM t AS q (x, x, y)": "At line 1, column 26: Duplicate name 'x' in column alias list",
    "SELECT a FROM t JOIN e USING (nope)": (
        "From line 1, column 31 to line 1, column 34: Column 'nope' not found in any table"
    ),
    "SELECT a FROM t WHERE a IN (SELECT a, b FROM t)": (
        "From line 1, column 23 to line 1, column 46: Values passed to IN operator must have compatible types"
    ),
    "SELECT a FROM t WHERE a IN (1, 'x')": (
        "From line 1, column 28 to line 1, column 35: Values in expression list must have compatible types"
    ),
    "SELECT (SELECT a, b FROM t)": (
        "From line 1, column 9 to line 1, column 26: Cannot apply '$SCALAR_QUERY' to arguments of type '$"
        "SCALAR_QUERY(<RECORDTYPE(INTEGER A, INTEGER B)>)'. Supported form(s): '$SCALAR_QUERY(<RECORDTYPE"
        "(SINGLE FIELD)>)'"
    ),
    "SELECT a FROM t GROUP BY a HAVING b > 1": "At line 1, column 35: Expression 'b' is not being grouped",
    "SELECT s, SUM(a) FROM t": "At line 1, column 8: Expression 's' is not being grouped",
    "SELECT SUM(a) FROM t WHERE SUM(a) > 1": (
        "From line 1, column 28 to line 1, column 33: Aggregate expression is illegal in WHERE clause"
    ),
    "SELECT COUNT(*) FROM t GROUP BY nope": (
        "From line 1, column 33 to line 1, column 36: Column 'nope' not found in any table"
    ),
    "SELECT SUM(s) FROM t": (
        "From line 1, column 8 to line 1, column 13: Cannot apply 'SUM' to arguments of type 'SUM(<VARCHA"
        "R(2147483647)>)'. Supported form(s): 'SUM(<NUMERIC>)'"
    ),
    "SELECT GROUPING(b) FROM t GROUP BY a": (
        "At line 1, column 17: Argument to GROUPING operator must be a grouped expression"
    ),
    "SELECT RANK() OVER (PARTITION BY a) FROM t": (
        "From line 1, column 20 to line 1, column 35: RANK or DENSE_RANK functions require ORDER BY claus"
        "e in window specification"
    ),
    "SELECT SUM(a) OVER (ORDER BY b ROWS BETWEEN UNBOUNDED FOLLOWING AND CURRENT ROW) FROM t": (
        "From line 1, column 45 to line 1, column 63: UNBOUNDED FOLLOWING cannot be specified for the low"
        "er frame boundary"
    ),
    "SELECT SUM(a) OVER w FROM t WINDOW w AS (ORDER BY b), w AS (ORDER BY a)": (
        "At line 1, column 55: Duplicate window names not allowed"
    ),
    "SELECT UPPER(s) OVER (ORDER BY b) FROM t": (
        "From line 1, column 8 to line 1, column 15: OVER must be applied to aggregate function"
    ),
    "SELECT * FROM t, UNNEST(a)": (
        "From line 1, column 18 to line 1, column 26: Cannot apply 'UNNEST' to arguments of type 'UNNEST("
        "<INTEGER>)'. Supported form(s): 'UNNEST(<MULTISET>)'"
    ),
    "SELECT * FROM t WHERE EXISTS (SELECT * FROM nope)": (
        "From line 1, column 45 to line 1, column 48: Object 'nope' not found"
    ),
    "SELECT T.a FROM t": "At line 1, column 8: Table 'T' not found; did you mean 't'?",
    "SELECT t.s.x FROM t": "From line 1, column 10 to line 1, column 12: Column 's.x' not found in table 't'",
    "SELECT * FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(a), INTERVAL '1' SECOND))": (
        "The window function TUMBLE(TABLE table_name, DESCRIPTOR(timecol), datetime interval[, datetime i"
        "nterval]) requires the timecol to be TIMESTAMP or TIMESTAMP_LTZ, but is INTEGER."
    ),
    "SELECT * FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(nope), INTERVAL '1' SECOND))": (
        "From line 1, column 48 to line 1, column 51: Unknown identifier 'nope'"
    ),
    "SELECT * FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts)))": (
        "From line 1, column 21 to line 1, column 51: Invalid number of arguments to function 'TUMBLE'. W"
        "as expecting 3 arguments"
    ),
    "SELECT TUMBLE_START(ts, INTERVAL '2' SECOND) FROM e GROUP BY TUMBLE(ts, INTERVAL '1' SECOND)": (
        "From line 1, column 8 to line 1, column 44: Call to auxiliary group function 'TUMBLE_START' must"
        " have matching call to group function '$TUMBLE' in GROUP BY clause"
    ),
    "SELECT COUNT(*) FROM e GROUP BY TUMBLE(a, INTERVAL '1' SECOND)": (
        "From line 1, column 33 to line 1, column 62: Cannot apply '$TUMBLE' to arguments of type '$TUMBL"
        "E(<INTEGER>, <INTERVAL SECOND>)'. Supported form(s): '$TUMBLE(<DATETIME>, <DATETIME_INTERVAL>)'"
    ),
    "WITH w AS (SELECT nope FROM t) SELECT 1 FROM t": (
        "From line 1, column 19 to line 1, column 22: Column 'nope' not found in any table"
    ),
    "SELECT * FROM t ORDER BY nope": (
        "From line 1, column 26 to line 1, column 29: Column 'nope' not found in any table"
    ),
    "SELECT r.nope FROM (SELECT CAST(ROW(1, 'y') AS ROW<x INT, y STRING>) AS r) AS q": (
        "From line 1, column 8 to line 1, column 13: Column 'r.nope' not found in table 'q'"
    ),
    "SELECT * FROM (VALUES (1, 'a'), (2)) AS v": (
        "From line 1, column 16 to line 1, column 35: Values passed to VALUES operator must have compatible types"
    ),
    "SELECT * FROM (VALUES (1), ('a')) AS v": (
        "From line 1, column 16 to line 1, column 32: Values passed to VALUES operator must have compatible types"
    ),
    "SELECT a + 2, COUNT(*) FROM t GROUP BY a + 1": "At line 1, column 8: Expression 'a' is not being grouped",
    "SELECT '' AS e, 'abc', X'0102', 1.50, 1e3, 3000000000, 99999999999999999999": (
        "From line 1, column 56 to line 1, column 75: Numeric literal '99999999999999999999' out of range"
    ),
    "SELECT 922337203685477580.8": (
        "From line 1, column 8 to line 1, column 27: Numeric literal '922337203685477580.8' out of range"
    ),
    "SELECT DATE '2020-13-01'": (
        "From line 1, column 8 to line 1, column 24: Illegal DATE literal '2020-13-01': not in format 'yyyy-MM-dd'"
    ),
    "SELECT TIME '25:00:00'": (
        "From line 1, column 8 to line 1, column 22: Illegal TIME literal '25:00:00': not in format 'HH:mm:ss'"
    ),
}


@pytest.mark.parametrize("query", REFUSED)
def test_refused_as_in_flink(tables: Tables, query: str) -> None:
    with pytest.raises(ValidationError) as raised:
        tables.plan(query)
    assert str(raised.value).splitlines()[0] == f"SQL validation failed. {REFUSED[query]}"
