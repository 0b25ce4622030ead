"""Edge values through every operator: the tables, the statements and their recorded answers.

Also imported by PyFlink's Python, which has no scurry. Queries are asked with their columns as texts, so that many can
be one job; some are also asked as they are, for the texts of `print`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

MODES = ("batch", "streaming")
#: Before a row that was taken back more often than it was added.
_NEGATIVE = "negative: "

_NUMBERS = """\
1,a,0.0
2,a,-0.0
3,b,NaN
4,b,2.0
5,c,2.0
6,c,NaN
7,d,
8,d,NaN
9,e,-0.0
10,e,0.0
11,a,
12,f,1.5
13,f,-Infinity
14,g,
"""

#: Milliseconds since 1970: in years 0, 1 and 9999 of all zones, and clocks put forward and back in Berlin.
_TIMES = """\
1,a,-62135596800000
2,a,253402171200000
3,b,1711846800000
4,b,1711846799999
5,c,1729987200000
6,c,1729990800000
7,d,
8,d,0
9,e,-62167089600000
10,e,253402171200000
11,a,-62135596800000
12,f,-1
13,f,951782400000
"""

_WALLS = """\
1,2024-03-31 02:30:00
2,2024-10-27 02:30:00
3,0001-01-01 00:00:00
4,9999-12-31 23:59:59
5,2024-03-10 02:30:00
"""

FILES = {"numbers.csv": _NUMBERS, "times.csv": _TIMES, "walls.csv": _WALLS}

_WITH = "WITH ('connector' = 'filesystem', 'path' = '{tmp}/%s.csv', 'format' = 'csv', 'csv.null-literal' = '')"

DEFINITIONS = (
    f"CREATE TABLE number_texts (i INT, k STRING, x STRING, p AS PROCTIME()) {_WITH % 'numbers'}",
    f"CREATE TABLE time_texts (i INT, k STRING, m BIGINT, p AS PROCTIME()) {_WITH % 'times'}",
    f"CREATE TABLE walls (i INT, w TIMESTAMP(3)) {_WITH % 'walls'}",
    "CREATE VIEW doubles AS SELECT i, k, p, CAST(x AS DOUBLE) AS v FROM number_texts",
    "CREATE VIEW floats AS SELECT i, k, p, CAST(x AS FLOAT) AS v FROM number_texts",
    "CREATE VIEW moments AS SELECT i, k, p, TO_TIMESTAMP_LTZ(m, 3) AS v FROM time_texts",
    "CREATE VIEW clocks AS SELECT i, k, p, CAST(TO_TIMESTAMP_LTZ(m, 3) AS TIMESTAMP(3)) AS v FROM time_texts",
    "CREATE VIEW days AS SELECT i, k, p, CAST(TO_TIMESTAMP_LTZ(m, 3) AS DATE) AS v FROM time_texts",
)

ZONES = ("UTC", "Asia/Shanghai", "America/New_York", "Europe/Berlin")

#: Name, columns and the rest of a query over the table `t`.
_ANY_TYPE = (
    ("group by", ("v", "COUNT(*)"), "FROM t GROUP BY v"),
    ("group by two", ("k", "v", "COUNT(*)"), "FROM t GROUP BY k, v"),
    ("grouping sets", ("k", "v", "COUNT(*)"), "FROM t GROUP BY GROUPING SETS ((k), (v))"),
    ("distinct", ("v",), "FROM (SELECT DISTINCT v FROM t)"),
    ("count distinct", ("COUNT(DISTINCT v)", "COUNT(v)"), "FROM t"),
    ("count distinct of groups", ("k", "COUNT(DISTINCT v)"), "FROM t GROUP BY k"),
    ("count distinct and others", ("k", "COUNT(DISTINCT v)", "SUM(DISTINCT i)", "MAX(i)"), "FROM t GROUP BY k"),
    ("join", ("a.i", "b.i"), "FROM t a JOIN t b ON a.v = b.v"),
    ("join on two", ("a.i", "b.i"), "FROM t a JOIN t b ON a.v = b.v AND a.k = b.k"),
    ("left join", ("a.i", "b.i"), "FROM t a LEFT JOIN t b ON a.v = b.v"),
    ("full join", ("a.i", "b.i"), "FROM t a FULL JOIN t b ON a.v = b.v"),
    ("join and condition", ("a.i", "b.i"), "FROM t a JOIN t b ON a.k = b.k AND a.v <= b.v"),
    ("null-safe join", ("a.i", "b.i"), "FROM t a JOIN t b ON a.v IS NOT DISTINCT FROM b.v"),
    ("in", ("i",), "FROM t WHERE v IN (SELECT v FROM t WHERE k IN ('a', 'b', 'd'))"),
    ("not in", ("i",), "FROM t WHERE v NOT IN (SELECT v FROM t WHERE k = 'b')"),
    ("exists", ("i",), "FROM t WHERE EXISTS (SELECT * FROM t u WHERE u.v = t.v AND u.k = 'b')"),
    ("not exists", ("i",), "FROM t WHERE NOT EXISTS (SELECT * FROM t u WHERE u.v = t.v AND u.k = 'b')"),
    ("min and max", ("MIN(v)", "MAX(v)"), "FROM t"),
    ("min and max of groups", ("k", "MIN(v)", "MAX(v)"), "FROM t GROUP BY k"),
    ("min of distinct", ("k", "MIN(DISTINCT v)", "MAX(DISTINCT v)"), "FROM t GROUP BY k"),
    ("min filtered", ("k", "MIN(v) FILTER (WHERE i > 3)", "COUNT(*)"), "FROM t GROUP BY k"),
    ("min and max of changes", ("MIN(w)", "MAX(w)"), "FROM (SELECT k, MAX(v) AS w FROM t GROUP BY k)"),
    ("first and last", ("k", "FIRST_VALUE(v)", "LAST_VALUE(v)"), "FROM t GROUP BY k"),
    ("over", ("i", "MIN(v) OVER w", "MAX(v) OVER w"), "FROM t WINDOW w AS (PARTITION BY k ORDER BY {order})"),
    (
        "over rows",
        ("i", "MIN(v) OVER w", "MAX(v) OVER w"),
        "FROM t WINDOW w AS (PARTITION BY k ORDER BY {order} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
    ),
    ("over partitions", ("i", "COUNT(*) OVER (PARTITION BY v ORDER BY {order})"), "FROM t"),
    ("over distinct", ("i", "COUNT(DISTINCT v) OVER (PARTITION BY k ORDER BY {order})"), "FROM t"),
    (
        "top n",
        ("k", "i", "v"),
        "FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v, i) AS r FROM t) WHERE r <= 1",
    ),
    (
        "top n descending",
        ("k", "i", "v"),
        "FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC, i) AS r FROM t) WHERE r <= 1",
    ),
    ("top n of all", ("i", "v", "r"), "FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY v, i) AS r FROM t) WHERE r <= 99"),
    (
        "deduplicate",
        ("v", "i"),
        "FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY v ORDER BY {order}) AS r FROM t) WHERE r = 1",
    ),
    ("limit", ("v",), "FROM (SELECT v FROM t ORDER BY v, i LIMIT 6)"),
    ("union", ("v",), "FROM (SELECT v FROM t UNION SELECT v FROM t)"),
    ("intersect", ("v",), "FROM (SELECT v FROM t INTERSECT SELECT v FROM t WHERE k IN ('b', 'd', 'e'))"),
    ("except", ("v",), "FROM (SELECT v FROM t EXCEPT SELECT v FROM t WHERE k = 'b')"),
    ("except all", ("v",), "FROM (SELECT v FROM t EXCEPT ALL SELECT v FROM t WHERE k = 'b')"),
    (
        "comparisons",
        ("a.i", "b.i", "a.v = b.v", "a.v <> b.v", "a.v < b.v", "a.v <= b.v", "a.v > b.v", "a.v >= b.v"),
        "FROM t a JOIN t b ON a.i + 1 = b.i",
    ),
    (
        "distinctness",
        ("a.i", "b.i", "a.v IS DISTINCT FROM b.v", "a.v BETWEEN b.v AND b.v", "NOT (a.v <= b.v)", "NULLIF(a.v, b.v)"),
        "FROM t a JOIN t b ON a.i + 1 = b.i",
    ),
    ("greatest", ("a.i", "GREATEST(a.v, b.v)", "LEAST(a.v, b.v)"), "FROM t a JOIN t b ON a.i + 1 = b.i"),
    (
        "arrays",
        (
            "a.i",
            "ARRAY_CONTAINS(ARRAY[a.v], b.v)",
            "ARRAY_POSITION(ARRAY[a.v], b.v)",
            "CARDINALITY(ARRAY_DISTINCT(ARRAY[a.v, b.v]))",
            "ARRAY_MAX(ARRAY[a.v, b.v])",
            "ARRAY_MIN(ARRAY[a.v, b.v])",
            "ARRAY[a.v] = ARRAY[b.v]",
        ),
        "FROM t a JOIN t b ON a.i + 1 = b.i",
    ),
    (
        "nested",
        ("a.i", "b.i", "ARRAY[a.v] = ARRAY[b.v]", "ROW(a.v, 1) = ROW(b.v, 1)", "MAP['k', a.v] = MAP['k', b.v]"),
        "FROM t a JOIN t b ON a.k = b.k",
    ),
    ("rows as keys", ("COUNT(*)",), "FROM (SELECT ROW(v, 1) AS r FROM t) GROUP BY r"),
    ("values", ("i", "v"), "FROM t"),
    ("as text", ("i", "CAST(v AS STRING)", "CAST(ARRAY[v] AS STRING)", "CAST(ROW(v) AS STRING)"), "FROM t"),
)

_NUMERIC = (
    (
        "conditions",
        ("i", "v > 0", "NOT (v <= 0)", "v = 0", "v IN (0, 2)", "v NOT IN (1, 2)", "v IS NULL", "SIGN(v)", "ABS(v)"),
        "FROM t",
    ),
    ("filter", ("i",), "FROM t WHERE NOT (v <= 0)"),
    ("filter zero", ("i",), "FROM t WHERE v = 0"),
    ("filter in", ("i",), "FROM t WHERE v IN (0, 2, 1.5)"),
    ("filter case", ("i",), "FROM t WHERE CASE WHEN v < 2 THEN FALSE ELSE TRUE END"),
    ("sum", ("k", "SUM(v)", "AVG(v)"), "FROM t GROUP BY k"),
    ("negated", ("i", "-v", "v * -1", "0 - v", "v + 0"), "FROM t"),
    ("non-equal join", ("a.i", "b.i"), "FROM t a, t b WHERE a.v < b.v"),
    ("single value", ("i",), "FROM t WHERE v >= (SELECT MIN(v) FROM t WHERE k = 'c')"),
)

_TEMPORAL = (
    ("formatted", ("i", "DATE_FORMAT(v, 'yyyy-MM-dd HH:mm:ss.SSS')"), "FROM t"),
    ("parts", ("i", "YEAR(v)", "MONTH(v)", "DAYOFMONTH(v)", "HOUR(v)", "EXTRACT(CENTURY FROM v)"), "FROM t"),
    ("floors", ("i", "FLOOR(v TO MONTH)", "FLOOR(v TO DAY)", "CEIL(v TO DAY)"), "FROM t"),
    ("moved", ("i", "v + INTERVAL '1' DAY", "v - INTERVAL '1' HOUR"), "FROM t"),
    ("to date", ("i", "CAST(v AS DATE)"), "FROM t"),
)

_MOMENTS = (
    (
        "far moments",
        tuple(f"TO_TIMESTAMP_LTZ({each}, 3)" for each in (-62167219200001, -62167219200000, 253402300800000)),
        "FROM t WHERE i = 1",
    ),
    ("to timestamp", ("i", "CAST(v AS TIMESTAMP(3))", "CAST(v AS TIME)"), "FROM t"),
)
_CLOCKS = (("to moment", ("i", "CAST(v AS TIMESTAMP_LTZ(3))"), "FROM t"),)
_WALL_CLOCKS = (
    (
        "of wall clocks",
        ("i", "CAST(w AS TIMESTAMP_LTZ(3))", "CAST(CAST(w AS TIMESTAMP_LTZ(3)) AS STRING)"),
        "FROM walls",
    ),
    (
        "converted",
        ("i", "CONVERT_TZ(CAST(w AS STRING), 'UTC', 'Europe/Berlin')", "UNIX_TIMESTAMP(CAST(w AS STRING))"),
        "FROM walls",
    ),
)
#: What is asked of types that are like another one, and in other zones than the last.
_OF_FLOATS = ("group by", "join", "in", "min and max of groups", "over rows", "comparisons", "arrays", "as text", "sum")
_OF_MOMENTS = (
    "group by", "count distinct", "join", "in", "min and max", "over rows", "top n of all", "limit", "comparisons",
    "values", "far moments", "to timestamp", "as text", "formatted", "parts", "floors", "moved", "to date",
)  # fmt: skip
_OF_CLOCKS = ("group by", "join", "min and max", "values", "to moment", "as text", "moved", "floors", "parts")
_OF_DAYS = ("group by", "join", "min and max", "over rows", "values", "as text", "moved", "parts")
_OF_ZONES = ("values", "to timestamp", "to moment", "moved", "as text")
_PRINTED = ("values", "to timestamp", "to moment")


@dataclass(frozen=True)
class Query:
    """A query over one of the tables, in a time zone."""

    name: str
    zone: str
    columns: tuple[str, ...]
    rest: str

    @property
    def plain(self) -> str:
        named = ", ".join(f"{column} AS c{place}" for place, column in enumerate(self.columns))
        return f"SELECT {named} {self.rest}"

    @property
    def is_printed(self) -> bool:
        return self.name.partition(": ")[2] in _PRINTED

    @property
    def as_texts(self) -> str:
        """The query with two columns: its name and the texts of its columns."""
        texts = (f"COALESCE(CAST(c{place} AS STRING), 'NULL')" for place in range(len(self.columns)))
        return f"SELECT '{self.name}' AS name, CONCAT_WS(' ; ', {', '.join(texts)}) AS texts FROM ({self.plain})"


def jobs(mode: str, size: int) -> Iterator[list[Query]]:
    """Return the queries in groups that are of one zone."""
    by_zone: dict[str, list[Query]] = {}
    for query in queries(mode):
        by_zone.setdefault(query.zone, []).append(query)
    for of_zone in by_zone.values():
        for start in range(0, len(of_zone), size):
            yield of_zone[start : start + size]


def union(chosen: Iterable[Query]) -> str:
    """Return one query with the rows of many."""
    return " UNION ALL ".join(query.as_texts for query in chosen)


def _of(table: str, zone: str, templates: Iterable[tuple[str, tuple[str, ...], str]], mode: str) -> list[Query]:
    # BATCH has no processing time in which rows come one after the other.
    order = "p" if mode == "streaming" else "i"
    return [
        Query(
            f"{table}, {zone}: {name}",
            zone,
            tuple(column.replace("{order}", order) for column in columns),
            re.sub(r"\bt\b", table, rest).replace("{order}", order),
        )
        for name, columns, rest in templates
        if mode == "streaming" or name != "first and last"  # BATCH has no order of rows
    ]


def queries(mode: str) -> list[Query]:
    """Return all queries, as they are in a mode."""
    found = _of("doubles", "UTC", (*_ANY_TYPE, *_NUMERIC), mode)
    found += _of("floats", "UTC", [each for each in (*_ANY_TYPE, *_NUMERIC) if each[0] in _OF_FLOATS], mode)
    temporal = (("moments", _MOMENTS, _OF_MOMENTS), ("clocks", _CLOCKS, _OF_CLOCKS), ("days", (), _OF_DAYS))
    for table, more, names in temporal:
        templates = [each for each in (*_ANY_TYPE, *_TEMPORAL, *more) if each[0] in names]
        for zone in ZONES:
            found += _of(table, zone, [each for each in templates if zone == ZONES[-1] or each[0] in _OF_ZONES], mode)
    for zone in ZONES:
        found += _of("walls", zone, _WALL_CLOCKS, mode)
    return found


def shown_rows(printed: str) -> list[str]:
    """Return the rows that `print` wrote, after their changes, in order of their texts."""
    lines = [line for line in printed.splitlines() if line.startswith("|")][1:]
    rows = [" | ".join(cell.strip() for cell in line.strip("|").split("|")) for line in lines]
    head = re.search(r"^\|\s*(op)\s*\|", printed, re.MULTILINE)
    return folded(tuple(row.split(" | ", 1)) for row in rows) if head else sorted(rows)


def folded(changes: Iterable[tuple[str, ...]]) -> list[str]:
    """Return the rows after changes: pairs of a kind as `+I` and a row."""
    rows: Counter[str] = Counter()
    for kind, row in changes:
        rows[row] += 1 if kind.startswith("+") else -1
    return sorted(rows.elements()) + sorted(_NEGATIVE + row for row, count in rows.items() if count < 0)


def rows_by_name(printed: str) -> dict[str, list[str]]:
    """Return the rows of the queries of a `union`."""
    found: dict[str, list[str]] = {}
    for row in shown_rows(printed):
        name, _, texts = row.removeprefix(_NEGATIVE).partition(" | ")
        found.setdefault(name, []).append(_NEGATIVE + texts if row.startswith(_NEGATIVE) else texts)
    return found


#: Queries whose answers differ, which `docs/differences.md` lists: -0.0 in a list, `x + 0`, rows and maps, FLOOR before
#: zones had whole offsets, the sum of -0.0, and NaN and zeros where Flink sorts.
_ALWAYS_DIFFERENT = {
    *(f"doubles, UTC: {name}" for name in ("conditions", "filter in", "negated", "nested")),
    *(f"doubles, UTC: {name}" for name in ("top n", "top n descending", "top n of all")),
    "moments, Europe/Berlin: floors",
}
DIFFERENT = {
    "batch": _ALWAYS_DIFFERENT | {"doubles, UTC: deduplicate", "doubles, UTC: over partitions"},
    "streaming": _ALWAYS_DIFFERENT | {"doubles, UTC: sum", "floats, UTC: sum"},
}


def path_of(mode: str) -> Path:
    return Path(__file__).with_name(f"{mode}.expected")


def recorded(mode: str) -> dict[str, list[str]]:
    """Return Flink's rows by the name of the query; an error is one row that begins with `!`."""
    found: dict[str, list[str]] = {}
    for line in path_of(mode).read_text(encoding="utf-8").splitlines():
        if line.startswith("> "):
            rows = found.setdefault(line[2:], [])
        else:
            rows.append(line)
    return found


def record(mode: str, found: dict[str, list[str]]) -> None:
    lines = [line for name, rows in sorted(found.items()) for line in (f"> {name}", *rows)]
    path_of(mode).write_text("\n".join(lines) + "\n", encoding="utf-8")


def differences(flink: dict[str, list[str]], found: dict[str, list[str]]) -> dict[str, tuple[list[str], list[str]]]:
    """Return the rows that only Flink has and those that only `found` has, by name; two refusals are alike."""
    different = {}
    for name in flink | found:
        theirs, ours = flink.get(name, ["no answer"]), found.get(name, ["no answer"])
        if not (theirs[:1] and ours[:1] and theirs[0][0] == ours[0][0] == "!"):
            only_theirs, only_ours = Counter(theirs) - Counter(ours), Counter(ours) - Counter(theirs)
            if only_theirs or only_ours:
                different[name] = (sorted(only_theirs.elements()), sorted(only_ours.elements()))
    return different


def write_files(directory: str) -> None:
    for name, text in FILES.items():
        Path(directory, name).write_text(text, encoding="utf-8")
