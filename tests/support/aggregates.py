"""The aggregates whose values real Flink has recorded in BATCH mode, and what scurry makes of them."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from typing import Any

from scurry.sql.syntax.parser import parse
from scurry.sql.types import DataType, DateType, DecimalType, RowType, TimestampType, TimeType
from scurry.sql.types.atomic_types import LocalZonedTimestampType
from scurry.sql.validator import data_type
from support.conformance import CONFORMANCE
from support.modules import load_module
from support.queries import Tables

__all__ = ["CORPUS", "cases", "difference"]

CORPUS = CONFORMANCE / "sql" / "aggregates"

_WINDOWS = {
    "over_p": "PARTITION BY g",
    "over_p_ts": "PARTITION BY g ORDER BY ts",
    "over_ts": "ORDER BY ts",
    "over_rows_unbounded": "PARTITION BY g ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "over_rows_2": "PARTITION BY g ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
    "over_rows_1_1": "PARTITION BY g ORDER BY ts ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
    "over_k_desc": "PARTITION BY g ORDER BY k DESC",
    "over_ts_desc": "PARTITION BY g ORDER BY ts DESC",
    "over_rows_2p_1p": "PARTITION BY g ORDER BY ts ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING",
    "over_rows_1f_2f": "PARTITION BY g ORDER BY ts ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING",
    "over_rows_to_end": "PARTITION BY g ORDER BY ts ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    "over_rows_all": "PARTITION BY g ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
    "over_rows_short": "ORDER BY ts ROWS BETWEEN 3 PRECEDING AND CURRENT ROW",
    "over_range_number": "PARTITION BY g ORDER BY k RANGE BETWEEN 5 PRECEDING AND 5 FOLLOWING",
}
_BOUNDS = ["window_start", "window_end"]
_TABLES = {
    "tumble": (["g", *_BOUNDS, "window_time"], "TUMBLE", "INTERVAL '30' SECOND"),
    "tumble_global": (_BOUNDS, "TUMBLE", "INTERVAL '30' SECOND"),
    "tumble_offset": (_BOUNDS, "TUMBLE", "INTERVAL '60' SECOND, INTERVAL '7' SECOND"),
    "hop": (["g", *_BOUNDS], "HOP", "INTERVAL '20' SECOND, INTERVAL '60' SECOND"),
    "hop_offset": (_BOUNDS, "HOP", "INTERVAL '20' SECOND, INTERVAL '60' SECOND, INTERVAL '5' SECOND"),
    "cumulate": (["g", *_BOUNDS], "CUMULATE", "INTERVAL '20' SECOND, INTERVAL '60' SECOND"),
    "cumulate_offset": (_BOUNDS, "CUMULATE", "INTERVAL '20' SECOND, INTERVAL '60' SECOND, INTERVAL '3' SECOND"),
}
# The queries that the items of a shape are part of; the shapes as the recorded rows tell them.
_SHAPES = {
    "group": "SELECT g, {} FROM t GROUP BY g",
    "global": "SELECT {} FROM t WHERE g IS NULL OR g <> 'x'",
    "empty": "SELECT {} FROM t WHERE k < 0",
    "empty_group": "SELECT g, {} FROM t WHERE k < 0 GROUP BY g",
    "two_keys": "SELECT g, h, {} FROM t GROUP BY g, h",
    **{name: f"SELECT k, {{}} FROM t WINDOW w AS ({window})" for name, window in _WINDOWS.items()},
    **{
        name: f"SELECT {', '.join(keys)}, {{}} FROM TABLE({function}(TABLE t, DESCRIPTOR(ts), {arguments})) "
        f"GROUP BY {', '.join(keys)}"
        for name, (keys, function, arguments) in _TABLES.items()
    },
}


def cases() -> Iterator[dict[str, Any]]:
    """Iterate over the cases of BATCH whose answer depends on nothing else and whose query is known."""
    with (CORPUS / "public.jsonl").open(encoding="utf-8") as lines:
        for case in map(json.loads, lines):
            is_alone = not case.get("disagrees") and not case.get("unstable")
            if case["mode"] == "batch" and is_alone and (case["kind"] == "query" or case["shape"] in _SHAPES):
                yield case


def difference(case: dict[str, Any]) -> str | None:
    """Return what differs from Flink's answer; None if nothing does."""
    query = case["sql"] if case["kind"] == "query" else _SHAPES[case["shape"]].format(f"{case['expr']} AS e0")
    tables = _tables()
    try:
        types = tables.types(query)
        columns = ", ".join(f"CAST(`{name}` AS STRING) AS `{name}`" for name in tables.names(query))
        rows = sorted(map(list, tables.rows(f"SELECT {columns} FROM ({query}) AS v")), key=_order)
    except Exception as error:  # what is broken is counted, not raised: one case is one case
        return None if "error" in case else f"{type(error).__name__}: {error}"
    if "error" in case:
        return f"accepted; Flink: {case['message']}"
    if case.get("via") == "none":
        return None
    wanted = case["types"] if case["kind"] == "query" else case["type"]
    if wanted != (types if case["kind"] == "query" else types[-1]):
        return f"types {types} instead of {wanted}"
    found = sorted(case["rows"], key=_order)
    kinds = wanted if case["kind"] == "query" else ["STRING"] * (len(types) - 1) + [wanted]
    if case["fn"].startswith(("STD", "VAR")):
        # Computed as DOUBLE and then converted, in whatever order the rows come.
        kinds = [*kinds[:-1], "FLOAT" if "FLOAT" in kinds[-1] else "DOUBLE"]
    if len(rows) != len(found):
        return f"{query}: {len(rows)} rows instead of {len(found)}"
    differing = [pair for pair in zip(rows, found, strict=True) if not _same_rows(pair[1], pair[0], kinds)]
    return f"{query}: {len(differing)} of {len(rows)} rows differ: {differing[:3]}" if differing else None


def _same_rows(wanted: list[Any], got: list[Any], kinds: list[str]) -> bool:
    return all(map(_same, wanted, got, kinds))


def _same(one: str | None, other: str | None, kind: str) -> bool:
    if one == other or one is None or other is None:
        return one == other
    if kind.startswith(("MULTISET", "MAP")):
        return _entries(one) == _entries(other)
    if "DOUBLE" not in kind and "FLOAT" not in kind:
        return False
    tolerance = 1e-12 if "DOUBLE" in kind else 1e-6
    parts = [each.strip("[]").split(", ") for each in (one, other)]
    try:
        return len(parts[0]) == len(parts[1]) and all(
            left == right or math.isclose(float(left), float(right), rel_tol=tolerance)
            for left, right in zip(*parts, strict=True)
        )
    except ValueError:
        return False


def _entries(text: str) -> list[str]:
    """Return the entries of `{a=1, (2, b)=1}`, which have no order."""
    found, depth, entry = [], 0, ""
    for char in text[1:-1]:
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            found.append(entry.strip())
            entry = ""
        else:
            entry += char
    return sorted([*found, entry.strip()])


def _order(row: list[Any]) -> list[Any]:
    return [("" if value is None else value, value is None) for value in row]


@cache
def _tables() -> Tables:
    data = load_module(CORPUS / "data.py", "aggregates_data")
    columns = ", ".join(f"{name} {written}" for name, written in data.COLUMNS)
    table: Any = parse(f"CREATE TABLE t ({columns}) WITH ('connector' = 'none')")
    schema: dict[str, DataType] = {each.name.last: data_type(each.type) for each in table.schema.columns}
    tables = Tables()
    tables.add("t", schema, *(tuple(_value(row[name], each) for name, each in schema.items()) for row in data.rows()))
    return tables


def _value(value: Any, kind: DataType) -> Any:
    if value is None:
        return None
    if isinstance(kind, DecimalType):
        return Decimal(value)
    if isinstance(kind, DateType):
        return (datetime.date.fromisoformat(value) - datetime.date(1970, 1, 1)).days
    if isinstance(kind, TimeType):
        time = datetime.time.fromisoformat(value)
        return ((time.hour * 60 + time.minute) * 60 + time.second) * 1000
    if isinstance(kind, TimestampType | LocalZonedTimestampType):
        since = datetime.datetime.fromisoformat(value.replace("Z", "")) - datetime.datetime(1970, 1, 1)
        return since // datetime.timedelta(milliseconds=1)
    if isinstance(kind, RowType):
        return tuple(value[name] for name in kind.names)
    return value
