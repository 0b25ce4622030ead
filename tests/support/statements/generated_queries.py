"""Queries made at random, in Flink's SQL and in that of SQLite, and changes of the tables that they read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from hypothesis import strategies as st

__all__ = ["TABLES", "Query", "Table", "changes", "composed", "larger", "queries", "queries_by_key"]

Row: TypeAlias = "dict[str, Any]"
#: A text with `{0}` and `{1}` for the inputs, or one of Flink and one of SQLite.
Template: TypeAlias = "str | tuple[str, str]"


@dataclass(frozen=True)
class Table:
    """A table `id INT, k STRING, v BIGINT`.

    Attributes:
        name: Its name.
        kind: INSERT if rows are only added, RETRACT if changes have the row before, UPSERT if they replace by `id`.
        has_key: Whether `id` is the primary key.
    """

    name: str
    kind: str
    has_key: bool


TABLES = (
    Table("a", "RETRACT", False),
    Table("b", "RETRACT", True),
    Table("c", "INSERT", False),
    Table("d", "UPSERT", True),
)


@dataclass(frozen=True)
class Query:
    """A query with the columns k and v.

    Attributes:
        flink: Its text.
        sqlite: A text with the same meaning for SQLite.
    """

    flink: str
    sqlite: str


_CONDITIONS = [
    "v > 1",
    "v IS NULL",
    "k = 'x'",
    "k <> 'x' OR v < 2",
    "v IS NOT NULL",
    "k IN ('x', 'y') AND v <> 1",
    "NOT (v = 2)",
    "1 = 0",
]
_COLUMNS = [
    "k, v + 1 AS v",
    "CASE WHEN v > 1 THEN k END AS k, v",
    "k, CAST(NULL AS BIGINT) AS v",
    "COALESCE(k, 'x') AS k, v",
    "k, v * v AS v",
    "'x' AS k, v",
]
_JOINS = ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"]
_JOINED_ON = [
    "l.k = r.k",
    "l.v = r.v",
    "l.k = r.k AND l.v < r.v",
    "l.k = r.k AND l.v = r.v",
    "l.k IS NOT DISTINCT FROM r.k",
    "l.v < r.v",
    "l.k = r.k AND l.v > 1",
    "l.k = r.k AND r.v > 1",
]
_JOINED_COLUMNS = [
    "l.k AS k, r.v AS v",
    "r.k AS k, l.v AS v",
    "l.k AS k, l.v + r.v AS v",
    "COALESCE(l.k, r.k) AS k, r.v AS v",
]
_TESTS = [
    "k IN (SELECT k FROM {1})",
    "k NOT IN (SELECT k FROM {1})",
    "k NOT IN (SELECT k FROM {1} WHERE k IS NOT NULL)",
    "EXISTS (SELECT * FROM {1} AS r WHERE r.k = l.k)",
    "NOT EXISTS (SELECT * FROM {1} AS r WHERE r.k = l.k AND r.v > l.v)",
    "v > (SELECT MIN(v) FROM {1})",
    "v = (SELECT MAX(v) FROM {1} AS r WHERE r.k = l.k)",
    "NOT (v > 1 OR k NOT IN (SELECT k FROM {1}))",
    "NOT (v > 1 OR NOT EXISTS (SELECT * FROM {1}))",
    "(k IN (SELECT k FROM {1})) IS TRUE",
    "(SELECT MAX(k) FROM {1}) IN (SELECT k FROM {1} AS r WHERE r.v = l.v)",
    "k IN (SELECT r.k FROM {1} AS r JOIN (SELECT k, v FROM {1} AS q WHERE q.v = l.v) AS s ON r.k = s.k)",
    "k NOT IN (SELECT r.k FROM (SELECT k FROM {1} AS q WHERE q.v = l.v) AS r LEFT JOIN {1} AS s ON r.k = s.k)",
]
_AGGREGATES = [
    "COUNT(*)",
    "COUNT(v)",
    "SUM(v)",
    "MIN(v)",
    "MAX(v)",
    "COUNT(DISTINCT v)",
    "SUM(DISTINCT v)",
    "COUNT(*) FILTER (WHERE v > 1)",
    "SUM(v) - MIN(v)",
]
_GROUPED = [
    "SELECT k, {0} AS v FROM {{0}} GROUP BY k",
    "SELECT k, {0} AS v FROM {{0}} GROUP BY k HAVING COUNT(*) > 1",
    "SELECT MAX(k) AS k, {0} AS v FROM {{0}} GROUP BY v",
    "SELECT MIN(k) AS k, {0} AS v FROM {{0}} HAVING COUNT(*) > 0",
    "SELECT k, {0} AS v FROM {{0}} GROUP BY k, v",
]
#: Those of Flink that SQLite writes in another way.
_CALLS = {
    "AVG(v)": "SUM(v) / COUNT(v)",
    "CAST(SUM(CAST(v AS DOUBLE)) AS BIGINT)": "SUM(v)",
    "CAST(SUM(CAST(v AS DECIMAL(10, 2))) AS BIGINT)": "SUM(v)",
    "CAST(CARDINALITY(ARRAY_AGG(v)) AS BIGINT)": "COUNT(*)",
    "COUNT(DISTINCT v) FILTER (WHERE k = 'x')": "COUNT(DISTINCT CASE WHEN k = 'x' THEN v END)",
    "COUNT(DISTINCT v) + COUNT(DISTINCT k) + COUNT(*)": "COUNT(DISTINCT v) + COUNT(DISTINCT k) + COUNT(*)",
    "SUM(DISTINCT v) - MAX(v) FILTER (WHERE v < 3)": "SUM(DISTINCT v) - MAX(v) FILTER (WHERE v < 3)",
}
_SETS_OF_GROUPS = [
    ("ROLLUP (k)", "k", "GROUP BY k", "NULL", "HAVING COUNT(*) > 0"),
    ("GROUPING SETS ((k), (v))", "k", "GROUP BY k", "NULL", "GROUP BY v"),
    ("GROUPING SETS ((k, v), (k))", "k", "GROUP BY k, v", "k", "GROUP BY k"),
]
_EXPANDED = [
    (
        f"SELECT k, {call} AS v FROM {{0}} GROUP BY {sets}",
        f"SELECT {one} AS k, {call} AS v FROM {{0}} {by} UNION ALL SELECT {other}, {call} FROM {{0}} {other_by}",
    )
    for call in ["COUNT(*)", "COUNT(DISTINCT id)", "MAX(id) - MIN(id)", "SUM(id)", "SUM(DISTINCT id)"]
    for sets, one, by, other, other_by in _SETS_OF_GROUPS
]
#: What rules of the optimizer leave out, or join in another order.
_REWRITTEN = [
    "SELECT l.k, l.v FROM {0} AS l LEFT JOIN (SELECT k, MAX(v) AS v FROM {1} GROUP BY k) AS r ON l.k = r.k",
    "SELECT l.k, l.v FROM {0} AS l JOIN (SELECT k, SUM(v) AS v FROM (SELECT k, MAX(v) AS v FROM {1} GROUP BY k) "
    "GROUP BY k) AS r ON l.k = r.k",
    "SELECT l.k, m.v FROM {0} AS l, {1} AS m, {0} AS r WHERE l.k = r.k AND m.v = r.v",
]
#: Columns of tables, which may have `id` as a key.
_OF_TABLES = [
    "SELECT k, v FROM {0} WHERE id IN (SELECT id FROM {1})",
    "SELECT k, v FROM {0} WHERE id NOT IN (SELECT id FROM {1})",
    "SELECT k, v FROM {0} AS l WHERE EXISTS (SELECT * FROM {1} AS r WHERE r.id = l.id AND r.v < l.v)",
    "SELECT k, v FROM {0} AS l WHERE NOT EXISTS (SELECT * FROM {1} AS r WHERE r.id = l.id AND r.k = l.k)",
    "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC, id) AS n FROM {0}) WHERE n <= 2",
    "SELECT k, n AS v FROM (SELECT k, ROW_NUMBER() OVER (ORDER BY v, k, id) AS n FROM {0}) WHERE n BETWEEN 2 AND 3",
    "SELECT MAX(k) AS k, SUM(v) AS v FROM {0} GROUP BY id",
    "SELECT MAX(k) AS k, SUM(v) AS v FROM (SELECT * FROM {0} UNION ALL SELECT * FROM {1}) GROUP BY id",
    "SELECT l.k, r.v FROM {0} AS l JOIN {1} AS r ON l.id = r.id LEFT JOIN {0} AS m ON r.id = m.v",
    "SELECT m.k, l.v FROM {0} AS l LEFT JOIN {1} AS r ON l.id = r.id LEFT JOIN {1} AS m ON l.id = m.id AND m.v > 0",
]
_SETS = ["UNION ALL", "UNION", "INTERSECT", "EXCEPT"]
_RANKED = [
    "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v {1}) AS n FROM {{0}}) WHERE n <= {0}",
    "SELECT k, n AS v FROM (SELECT k, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v {1}) AS n FROM {{0}}) "
    "WHERE n <= {0}",
    "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY v ORDER BY k {1}) AS n FROM {{0}}) WHERE n = {0}",
    "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY v {1}, k) AS n FROM {{0}}) WHERE n <= {0}",
    "SELECT k, v FROM (SELECT * FROM {{0}} ORDER BY v {1}, k LIMIT {0}) AS limited",
]
_OVER = [
    "SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY v) AS v FROM {0}",
    "SELECT k, COUNT(*) OVER (PARTITION BY v ORDER BY k) AS v FROM {0}",
]


def _table() -> st.SearchStrategy[Query]:
    texts = [f"(SELECT k, v FROM {table.name})" for table in TABLES]
    return st.sampled_from([Query(text, text) for text in texts])


def _table_by_id() -> st.SearchStrategy[Query]:
    return st.sampled_from([Query(table.name, table.name) for table in TABLES])


def composed(template: Template, *inputs: Query) -> Query:
    """Return the query of a template."""
    flink, sqlite = (template, template) if isinstance(template, str) else template
    return Query(
        f"({flink.format(*(each.flink for each in inputs))})",
        f"({sqlite.format(*(each.sqlite for each in inputs))})",
    )


def _one(templates: Sequence[Template], inputs: st.SearchStrategy[Query]) -> st.SearchStrategy[Query]:
    return st.builds(composed, st.sampled_from(templates), inputs)


def _two(templates: Sequence[Template], inputs: st.SearchStrategy[Query]) -> st.SearchStrategy[Query]:
    return st.builds(composed, st.sampled_from(templates), inputs, inputs)


def _all_rows(kind: str, left: Query, right: Query) -> Query:
    """Return INTERSECT ALL or EXCEPT ALL, which SQLite has for rows that are told apart by a number."""
    numbered = "SELECT k, v, ROW_NUMBER() OVER (PARTITION BY k, v) AS n FROM {}"
    return Query(
        f"(SELECT k, v FROM {left.flink} {kind} ALL SELECT k, v FROM {right.flink})",
        f"(SELECT k, v FROM ({numbered.format(left.sqlite)} {kind} {numbered.format(right.sqlite)}))",
    )


def _first_of_each(rows: Query) -> Query:
    """Return the first rows of each key by LATERAL, which SQLite has not."""
    return Query(
        f"(SELECT l.k, r.v FROM (SELECT DISTINCT k FROM {rows.flink}) AS l, "
        f"LATERAL (SELECT v FROM {rows.flink} AS q WHERE q.k = l.k ORDER BY v LIMIT 2) AS r)",
        "(SELECT k, v FROM (SELECT k, v, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) AS n "
        f"FROM {rows.sqlite} WHERE k IS NOT NULL) WHERE n <= 2)",
    )


def _by_id() -> st.SearchStrategy[Query]:
    """Return queries of tables with their column `id`."""
    joined = [
        f"SELECT {columns} FROM {{0}} AS l {join} {{1}} AS r ON {on}"
        for columns in _JOINED_COLUMNS
        for join in _JOINS
        for on in ("l.id = r.id", "l.id = r.id AND l.v < r.v", "l.id = r.v", "l.id = r.id AND r.v > 1 AND l.v < 3")
    ]
    tables = _table_by_id()
    return st.one_of(_two(joined, tables), _two(_OF_TABLES, tables), _one(_EXPANDED, tables))


def larger(inputs: st.SearchStrategy[Query]) -> st.SearchStrategy[Query]:
    """Return queries of one operation over others."""
    grouped: list[Template] = [each.format(call) for each in _GROUPED for call in _AGGREGATES]
    grouped += [(each.format(call), each.format(other)) for each in _GROUPED for call, other in _CALLS.items()]
    ranked = [each.format(count, order) for each in _RANKED for count in (1, 2) for order in ("ASC", "DESC")]
    joined = [
        f"SELECT {columns} FROM {{0}} AS l {join} {{1}} AS r ON {on}"
        for columns in _JOINED_COLUMNS
        for join in _JOINS
        for on in _JOINED_ON
    ]
    return st.one_of(
        _one([f"SELECT k, v FROM {{0}} WHERE {each}" for each in _CONDITIONS], inputs),
        _one([f"SELECT {each} FROM {{0}}" for each in _COLUMNS], inputs),
        _one(["SELECT DISTINCT k, v FROM {0}", "SELECT DISTINCT k, CAST(1 AS BIGINT) AS v FROM {0}"], inputs),
        _one(grouped, inputs),
        _one(ranked, inputs),
        _one(_OVER, inputs),
        _two(joined, inputs),
        _two([f"SELECT k, v FROM {{0}} AS l WHERE {each}" for each in _TESTS], inputs),
        _two(_REWRITTEN, inputs),
        _two([f"SELECT k, v FROM {{0}} {kind} SELECT k, v FROM {{1}}" for kind in _SETS], inputs),
        st.builds(_first_of_each, inputs),
        st.builds(_all_rows, st.sampled_from(["INTERSECT", "EXCEPT"]), inputs, inputs),
    )


_BY_KEY = [
    "SELECT k, SUM(v) AS v FROM {0} WHERE k IS NOT NULL GROUP BY k",
    "SELECT k, MAX(v) AS v FROM {0} WHERE k IS NOT NULL GROUP BY k HAVING MAX(v) > 1",
    "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS n FROM {0} WHERE k IS NOT NULL) "
    "WHERE n = 1",
]
_JOINED_BY_KEY = [
    "SELECT l.k AS k, l.v + r.v AS v FROM {0} AS l JOIN {1} AS r ON l.k = r.k",
    "SELECT l.k AS k, r.v AS v FROM {0} AS l LEFT JOIN {1} AS r ON l.k = r.k",
    "SELECT l.k AS k, r.v AS v FROM {0} AS l JOIN {1} AS r ON l.k = r.k AND l.v < r.v",
    "SELECT l.k AS k, r.v AS v FROM {0} AS l LEFT JOIN {1} AS r ON l.k = r.k AND l.v < r.v",
    "SELECT l.k AS k, r.v AS v FROM {0} AS l JOIN {1} AS r ON l.k = r.k WHERE l.v + r.v > 2",
    "SELECT k, v FROM {0} WHERE k IN (SELECT k FROM {1})",
    "SELECT k, v FROM {0} WHERE k NOT IN (SELECT k FROM {1} WHERE v > 1 AND k IS NOT NULL)",
    "SELECT k, MIN(v) AS v FROM (SELECT * FROM {0} UNION ALL SELECT * FROM {1}) GROUP BY k",
]


_WITH_ID = [
    "SELECT CAST(id AS {type}) AS k, v FROM {{0}}",
    "SELECT CAST(id AS {type}) AS k, v FROM {{0}} WHERE v > 1",
    "SELECT CAST(l.id AS {type}) AS k, r.v AS v FROM {{0}} AS l JOIN {{1}} AS r ON l.id = r.id",
    "SELECT CAST(l.id AS {type}) AS k, r.v AS v FROM {{0}} AS l LEFT JOIN {{1}} AS r ON l.id = r.id",
    "SELECT CAST(l.id AS {type}) AS k, r.v AS v FROM {{0}} AS l LEFT JOIN {{1}} AS r ON l.id = r.id AND l.v < r.v",
    "SELECT CAST(COALESCE(l.id, r.id) AS {type}) AS k, l.v AS v FROM {{0}} AS l FULL JOIN {{1}} AS r ON l.id = r.id",
    "SELECT CAST(id AS {type}) AS k, v FROM {{0}} AS l WHERE EXISTS (SELECT * FROM {{1}} AS r WHERE r.k = l.k)",
    "SELECT CAST(id AS {type}) AS k, v FROM {{0}} AS l WHERE id NOT IN (SELECT id FROM {{1}} WHERE v > 1)",
    "SELECT CAST(l.id AS {type}) AS k, SUM(r.v) AS v FROM {{0}} AS l JOIN {{1}} AS r ON l.k = r.k GROUP BY l.id",
    "SELECT CAST(id AS {type}) AS k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC, id) AS n "
    "FROM {{0}}) WHERE n <= 2",
]


def queries_by_key() -> st.SearchStrategy[Query]:
    """Return queries whose rows have different values of k, none of which is NULL."""
    one = _one(_BY_KEY, queries(2))
    with_id = [(each.format(type="STRING"), each.format(type="TEXT")) for each in _WITH_ID]
    return st.one_of(one, _two(_JOINED_BY_KEY, one), _two(with_id, _table_by_id()))


def queries(tables: int = 3) -> st.SearchStrategy[Query]:
    """Return queries of a few operations on so many tables at most."""
    return st.recursive(st.one_of(_table(), _by_id()), larger, max_leaves=tables)


@st.composite
def changes(draw: st.DrawFn, table: Table) -> list[tuple[str, Row]]:
    """Return changes of a table that begins empty; an update with the row before has both as neighbours.

    A deletion in an UPSERT table has the key alone, which may be that of no row, and an insertion may replace a row.
    """
    present: list[Row] = []
    found: list[tuple[str, Row]] = []
    for number in range(draw(st.integers(0, 12))):
        row = {
            "id": number,
            "k": draw(st.sampled_from(["x", "y", "z", None])),
            "v": draw(st.sampled_from([0, 1, 2, 3, None])),
        }
        action = "+I" if table.kind == "INSERT" or not present else draw(st.sampled_from(["+I", "+I", "+U", "-D"]))
        if table.kind == "UPSERT" and draw(st.integers(0, 9)) == 0:
            found.append(("-D", {"id": number, "k": None, "v": None}))
        if action == "+I":
            present.append(row)
            found.append(("+I", row))
            continue
        place = draw(st.integers(0, len(present) - 1))
        before = present[place]
        if action == "+U":
            row["id"] = before["id"]
            present[place] = row
            replacing = draw(st.sampled_from(["+U", "+I"]))
            found += [(replacing, row)] if table.kind == "UPSERT" else [("-U", before), ("+U", row)]
        else:
            del present[place]
            gone = {"id": before["id"], "k": None, "v": None}
            found.append(("-D", gone if table.kind == "UPSERT" else before))
    return found
