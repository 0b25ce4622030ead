"""Queries over event time made at random, in Flink's SQL and in that of SQLite, and changes of their tables."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

from hypothesis import strategies as st

from support.statements.generated_queries import Query, composed, larger

__all__ = ["TIME_TABLES", "VIEWS", "TimeTable", "time_changes", "time_queries"]

Row: TypeAlias = "dict[str, Any]"


@dataclass(frozen=True)
class TimeTable:
    """A table `id INT, k STRING, v BIGINT, ts TIMESTAMP(3)`, in SQLite with whole seconds as `ts`.

    Attributes:
        name: Its name.
        kind: As for `Table`.
        lag: How many seconds the watermark is behind; no row is late, nor is one that is changed.
        in_order: Whether rows come in order of their times. The last row of a key by time has only such versions.
    """

    name: str
    kind: str
    lag: int
    in_order: bool = False

    @property
    def has_key(self) -> bool:
        """Whether `id` is the primary key."""
        return self.kind == "UPSERT"


TIME_TABLES = (
    TimeTable("e", "INSERT", 6),
    TimeTable("f", "INSERT", 6),
    TimeTable("g", "INSERT", 12, in_order=True),
    TimeTable("s", "INSERT", 1000),
    TimeTable("r", "RETRACT", 12),
    TimeTable("u", "UPSERT", 12),
)

#: Views over each table: columns in Flink's SQL, and in SQLite's.
VIEWS = {
    "few": ("SELECT * FROM {0} WHERE v > 0 OR k = 'x'",) * 2,
    "sums": (
        "SELECT CAST(COUNT(*) AS INT) AS id, k, SUM(v) AS v, window_time AS ts "
        "FROM TABLE(TUMBLE(TABLE {0}, DESCRIPTOR(ts), INTERVAL '5' SECOND)) "
        "GROUP BY k, window_start, window_end, window_time",
        "SELECT COUNT(*) AS id, k, SUM(v) AS v, ts / 5 * 5 + 4 AS ts FROM {0} GROUP BY k, ts / 5",
    ),
    "versions": (
        "SELECT id, k, v, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS n FROM {0}) "
        "WHERE n = 1",
    )
    * 2,
}
_INSERTED = ["e", "f"]
_ALL = ["e", "f", "s", "r", "u"]
_START = "TIMESTAMP '2024-01-01 00:00:00'"
_AGGREGATES = [
    ("COUNT(*)", "COUNT(*)"),
    ("SUM(v)", "SUM(v)"),
    ("MIN(v)", "MIN(v)"),
    ("MAX(v) - MIN(id)", "MAX(v) - MIN(id)"),
    ("COUNT(DISTINCT v)", "COUNT(DISTINCT v)"),
    ("SUM(DISTINCT v) + COUNT(*) FILTER (WHERE v > 1)", "SUM(DISTINCT v) + COUNT(*) FILTER (WHERE v > 1)"),
    ("AVG(v)", "SUM(v) / COUNT(v)"),
]
_END = f"CAST(TIMESTAMPDIFF(SECOND, {_START}, window_end) AS BIGINT)"
#: Windows: what Flink calls them, the rows of SQLite with the end of each as `w`.
_WINDOWS = [
    ("TUMBLE(TABLE {0}, DESCRIPTOR(ts), INTERVAL '10' SECOND)", "SELECT *, ts / 10 * 10 + 10 AS w FROM {0}"),
    (
        "HOP(TABLE {0}, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)",
        "SELECT *, ts / 5 * 5 + size AS w FROM {0}, (SELECT 5 AS size UNION ALL SELECT 10)",
    ),
    (
        "CUMULATE(TABLE {0}, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '15' SECOND)",
        "SELECT *, ts / 15 * 15 + size AS w FROM {0}, (SELECT 5 AS size UNION ALL SELECT 10 UNION ALL SELECT 15) "
        "WHERE ts - ts / 15 * 15 < size",
    ),
]
_SESSIONS = (
    "SESSION(TABLE {0} PARTITION BY k, DESCRIPTOR(ts), INTERVAL '4' SECOND)",
    "SELECT *, MAX(ts) OVER (PARTITION BY k, s) + 4 AS w FROM (SELECT *, SUM(b) OVER (PARTITION BY k ORDER BY ts) AS s "
    "FROM (SELECT *, CASE WHEN ts - LAG(ts) OVER (PARTITION BY k ORDER BY ts) <= 4 THEN 0 ELSE 1 END AS b FROM {0}))",
)
_OLD_WINDOWS = [
    ("TUMBLE(ts, INTERVAL '10' SECOND)", _WINDOWS[0][1]),
    ("HOP(ts, INTERVAL '5' SECOND, INTERVAL '10' SECOND)", _WINDOWS[1][1]),
    ("SESSION(ts, INTERVAL '4' SECOND)", _SESSIONS[1]),
]
_FRAMES = [
    ("ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",) * 2,
    ("RANGE BETWEEN INTERVAL '7' SECOND PRECEDING AND CURRENT ROW", "RANGE BETWEEN 7 PRECEDING AND CURRENT ROW"),
    ("RANGE UNBOUNDED PRECEDING",) * 2,
]
_OVER = ["SUM(v)", "COUNT(*)", "MIN(v)", "MAX(id)"]


def _is_refused(window: str, call: str) -> bool:
    """Return whether Flink refuses an aggregate in windows."""
    return window.startswith("HOP") and "SUM(DISTINCT" in call


def _in_windows() -> list[tuple[str, str]]:
    found = []
    for (window, rows), (call, other) in product([*_WINDOWS, _SESSIONS], [*_AGGREGATES, (_END, "w")]):
        if _is_refused(window, call):
            continue
        for key, column in (("k, ", "k"), ("", "MAX(k)"))[: 1 if window.startswith("SESSION") else 2]:
            found.append(
                (
                    f"SELECT {column} AS k, {call} AS v FROM TABLE({window}) GROUP BY {key}window_start, window_end",
                    f"SELECT {column} AS k, {other} AS v FROM ({rows}) GROUP BY {key}w",
                )
            )
    for window, rows in _WINDOWS:
        found.append(
            (
                f"SELECT k, SUM(id) AS v FROM TABLE({window}) GROUP BY window_start, window_end, ROLLUP (k)",
                f"SELECT k, SUM(id) AS v FROM ({rows}) GROUP BY w, k "
                f"UNION ALL SELECT NULL, SUM(id) FROM ({rows}) GROUP BY w",
            )
        )
    for (window, rows), (call, other) in product(_OLD_WINDOWS, _AGGREGATES):
        if _is_refused(window, call):
            continue
        found.append(
            (
                f"SELECT k, {call} AS v FROM {{0}} GROUP BY k, {window}",
                f"SELECT k, {other} AS v FROM ({rows}) GROUP BY k, w",
            )
        )
    return found


def _ranked() -> list[tuple[str, str]]:
    """Return first and last rows by time."""
    found = []
    for order in ("ts", "ts DESC"):
        for key in ("k", "id", "v"):
            text = (
                f"SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {key} ORDER BY {order}) AS n FROM {{0}}) "
                "WHERE n = 1"
            )
            found.append((text, text))
    return found


def _of_inserted() -> list[tuple[str, str]]:
    """Return what takes no changes in Flink, either."""
    found = []
    for window, rows in _WINDOWS:
        for by, by_, order, count in (
            (", k", ", k", "v DESC, id", 2),
            ("", "", "v, id", 1),
            (", k", ", k", "ts", 1),
            (", v", ", v", "ts DESC", 1),
        ):
            found.append(
                (
                    f"SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end{by} "
                    f"ORDER BY {order}) AS n FROM TABLE({window})) WHERE n <= {count}",
                    f"SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY w{by_} ORDER BY {order}) AS n "
                    f"FROM ({rows})) WHERE n <= {count}",
                )
            )
    for frame, frame_ in _FRAMES:
        for call in _OVER:
            text = f"SELECT k, {call} OVER (PARTITION BY k ORDER BY ts {{}}) AS v FROM {{{{0}}}}"
            found.append((text.format(frame), text.format(frame_)))
    for call in ("LAG(v)", "LAG(v, 2)", "ROW_NUMBER()"):
        text = f"SELECT k, {call} OVER (PARTITION BY k ORDER BY ts) AS v FROM {{0}}"
        found.append((text, text))
    return found


_JOINED_COLUMNS = ["l.k AS k, r.v AS v", "r.k AS k, l.v AS v", "COALESCE(l.k, r.k) AS k, l.id + r.id AS v"]
_JOINS = ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"]


def _in_same_window(text: str, window: tuple[str, str]) -> tuple[str, str]:
    """Return a query with `{left}`, `{right}` and `{same}` for two tables by windows."""
    flink, sqlite = window
    sides = [(f"(SELECT * FROM TABLE({flink}))", f"({sqlite})")]
    sides.append((sides[0][0].replace("{0}", "{1}"), sides[0][1].replace("{0}", "{1}")))
    same = ("l.window_start = r.window_start AND l.window_end = r.window_end", "l.w = r.w")
    one, other = (text.format(left=sides[0][way], right=sides[1][way], same=same[way]) for way in (0, 1))
    return one, other


def _joined() -> list[tuple[str, str]]:
    found = []
    near = "l.ts BETWEEN r.ts - {0}5{1} AND r.ts + {0}3{1}"
    for join, columns, more in product(_JOINS, _JOINED_COLUMNS, ("", " AND l.v < r.v", " AND l.v > 1")):
        text = f"SELECT {columns} FROM {{left}} AS l {join} {{right}} AS r ON l.k = r.k{more} AND {{same}}"
        by_time = text.format(left="{0}", right="{1}", same=near)
        found += [_in_same_window(text, window) for window in _WINDOWS[:2]]
        found.append(
            (
                by_time.replace(near, near.format("INTERVAL '", "' SECOND")),
                by_time.replace(near, near.format("", "")),
            )
        )
    for kind, window in product(("EXISTS", "NOT EXISTS"), _WINDOWS[:2]):
        text = "SELECT k, v FROM {{left}} AS l WHERE {} (SELECT * FROM {{right}} AS r WHERE l.k = r.k AND {{same}})"
        found.append(_in_same_window(text.format(kind), window))
    return found


def _temporal() -> list[tuple[str, str]]:
    left = "SELECT l.k, r.v FROM {0} AS l LEFT JOIN g_versions FOR SYSTEM_TIME AS OF l.ts AS r ON l.k = r.k"
    version = "(SELECT v FROM g AS r WHERE r.k = l.k AND r.ts <= l.ts ORDER BY ts DESC LIMIT 1)"
    exists = "EXISTS (SELECT v FROM g AS r WHERE r.k = l.k AND r.ts <= l.ts)"
    return [
        (
            "SELECT l.k, r.v FROM {0} AS l JOIN g_versions FOR SYSTEM_TIME AS OF l.ts AS r ON l.k = r.k",
            f"SELECT l.k, {version} AS v FROM {{0}} AS l WHERE {exists}",
        ),
        (left, f"SELECT l.k, {version} AS v FROM {{0}} AS l"),
        (
            f"{left} AND r.v > l.v",
            "SELECT k, CASE WHEN found > v THEN found END AS v "
            f"FROM (SELECT l.k, l.v, {version} AS found FROM {{0}} AS l)",
        ),
    ]


def _made(templates: list[tuple[str, str]], tables: list[str], count: int) -> st.SearchStrategy[Query]:
    inputs = [st.sampled_from([Query(each, each) for each in tables])] * count
    # not sampled_from, whose text Hypothesis makes of all templates
    chosen = st.integers(0, len(templates) - 1).map(lambda number: templates[number])
    return st.builds(composed, chosen, *inputs)


def time_queries(tables: int = 2) -> st.SearchStrategy[Query]:
    """Return queries with operators of event time below, and a few others above them."""
    inserted = [*_INSERTED, *(f"{each}_sums" for each in _ALL), *(f"{each}_few" for each in _INSERTED)]
    changed = [*_ALL, *(f"{each}_few" for each in _ALL), "s_versions"]
    below = st.one_of(
        _made(_in_windows(), [*changed, *inserted], 1),
        _made(_ranked(), _ALL, 1),
        _made(_of_inserted(), _INSERTED, 1),
        _made(_joined(), _INSERTED, 2),
        _made(_temporal(), _INSERTED, 1),
    )
    return st.recursive(below, larger, max_leaves=tables)


@st.composite
def time_changes(draw: st.DrawFn, table: TimeTable) -> list[tuple[str, Row]]:
    """Return changes of a table that begins empty, as `changes` does; no two rows have the same time."""
    present: list[Row] = []
    found: list[tuple[str, Row]] = []
    times = [3 * number + draw(st.integers(0, 2)) for number in range(draw(st.integers(0, 14)))]
    for place in range(1, len(times), 2):
        if not table.in_order and draw(st.booleans()):
            times[place - 1 : place + 1] = times[place], times[place - 1]
    for number, time in enumerate(times):
        row = {
            "id": number,
            "k": draw(st.sampled_from(["x", "y", "z"] if table.kind == "INSERT" else ["x", "y", None])),
            "v": draw(st.sampled_from([0, 1, 2, 3, None])),
            "ts": time,
        }
        open_rows = [each for each in present if each["ts"] > max(times[:number], default=0) - table.lag]
        action = "+I" if table.kind == "INSERT" or not open_rows else draw(st.sampled_from(["+I", "+I", "+U", "-D"]))
        if action == "+I":
            present.append(row)
            found.append(("+I", row))
            continue
        before = draw(st.sampled_from(open_rows))
        present.remove(before)
        if action == "+U":
            row["id"] = before["id"]
            present.append(row)
            found += [("+U", row)] if table.kind == "UPSERT" else [("-U", before), ("+U", row)]
        else:
            found.append(("-D", before))
    return found
