"""Expressions and operations of the Table API have the types, names, rows and words that PyFlink 2.3.0 recorded.

Each line of tests/fixtures/table_api is a piece of a program with what PyFlink answered: the schema, the values or
rows, or the beginning of the message.
"""

from __future__ import annotations

import datetime
import decimal
import json
from pathlib import Path
from typing import Any

import pytest

from scurry.errors import ScurryError
from scurry.table import DataTypes, EnvironmentSettings, Row, Table, TableEnvironment, expression, expressions, window

RECORDED = Path(__file__).parent.parent / "fixtures" / "table_api"
D = DataTypes
#: what Flink's order of entries of a map is not said to be
UNORDERED = ("map_keys", "map_values", "map_entries")


def recorded(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (RECORDED / f"{name}.jsonl").read_text().splitlines()]


def environment(mode: str) -> TableEnvironment:
    settings = EnvironmentSettings.in_batch_mode() if mode == "batch" else EnvironmentSettings.in_streaming_mode()
    made = TableEnvironment.create(settings)
    made.get_config().set("scurry.runner", "local").set("parallelism.default", "1").set("table.local-time-zone", "UTC")
    return made


NAMES: dict[str, Any] = {
    **{name: getattr(module, name) for module in (expression, expressions, window) for name in module.__all__},
    "D": D,
    "datetime": datetime,
    "decimal": decimal,
}


def evaluated(code: str, **names: Any) -> Any:
    return eval(code, {**NAMES, **names})


def one_row(env: TableEnvironment) -> Table:
    fields = {
        "i": D.INT(), "l": D.BIGINT(), "d": D.DOUBLE(), "dec": D.DECIMAL(10, 2), "s": D.STRING(), "b": D.BOOLEAN(),
        "n": D.INT(), "ns": D.STRING(), "dt": D.DATE(), "tm": D.TIME(), "ts": D.TIMESTAMP(3), "arr": D.ARRAY(D.INT()),
        "sa": D.ARRAY(D.STRING()), "m": D.MAP(D.STRING(), D.INT()),
        "r": D.ROW([D.FIELD("x", D.INT()), D.FIELD("y", D.STRING())]), "j": D.STRING(), "by": D.BYTES(),
        "nb": D.BOOLEAN(), "one": D.ARRAY(D.INT()),
    }  # fmt: skip
    row = (
        7, 123456789012, 0.5, decimal.Decimal("12.34"), "Hello World", True, None, None, datetime.date(2024, 2, 29),
        datetime.time(12, 34, 56), datetime.datetime(2024, 2, 29, 12, 34, 56, 789000), [3, 1, None, 3], ["a", "b"],
        {"k": 1, "z": 2}, Row(5, "why"), '{"a": 1, "b": [1, 2], "c": null, "d": "x"}', bytearray(b"\x01\xff"), None,
        [42],
    )  # fmt: skip
    return env.from_elements([row], D.ROW([D.FIELD(name, kind) for name, kind in fields.items()]))


def tables(env: TableEnvironment, directory: Path) -> dict[str, Any]:
    """The tables that the recorded operations are about."""
    columns = D.ROW([D.FIELD("id", D.INT()), D.FIELD("g", D.STRING()), D.FIELD("x", D.DOUBLE())])
    pairs = D.ROW([D.FIELD("k", D.INT()), D.FIELD("v", D.STRING())])
    nulls = D.ROW([D.FIELD("a", D.INT()), D.FIELD("b", D.STRING())])
    file = directory / "w.csv"
    events = [("a", 1, 1, 0), ("b", 2, 3, 0), ("a", 3, 9, 59), ("a", 4, 12, 0), ("b", 5, 25, 0), ("a", 6, 31, 0)]
    file.write_text("".join(f"{k},{v},2024-01-01 00:{m:02d}:{s:02d}\n" for k, v, m, s in events))
    time = ", p AS PROCTIME(), WATERMARK FOR ts AS ts" if env._session.is_streaming else ""
    env.execute_sql(
        f"CREATE TABLE w (k STRING, v INT, ts TIMESTAMP(3){time}) "
        f"WITH ('connector' = 'filesystem', 'path' = '{file}', 'format' = 'csv')"
    )
    return {
        "t_env": env,
        "t": env.from_elements([(1, "a", 5.0), (2, "b", 2.5), (3, "a", 1.0)], columns),
        "v": env.from_elements([(1, "a", 5.0), (4, "c", 2.5)], columns),
        "u": env.from_elements([(1, "one"), (2, "two"), (5, None)], pairs),
        "n": env.from_elements([(1, "q"), (None, "p"), (3, None), (1, "z")], nulls),
        "w": env.from_path("w"),
    }


def shown(value: Any) -> str:
    return repr(sorted(value.items())) if isinstance(value, dict) else repr(value)


def rows(table: Table) -> list[str]:
    with table.execute().collect() as found:
        return [row.get_row_kind().name[:8] + repr(tuple(row)) for row in found]


def test_expressions_have_flinks_types_and_names() -> None:
    table = one_row(environment("batch"))
    cases = [case for case in recorded("expressions") if "schema" in case]
    assert len(cases) > 250
    found = {case["code"]: str(table.select(evaluated(case["code"])).get_resolved_schema()) for case in cases}
    assert found == {case["code"]: case["schema"] for case in cases}


def test_expressions_have_flinks_values() -> None:
    table = one_row(environment("batch"))
    aggregates = (".sum", ".min", ".max", ".count", ".avg", "_value", "list_agg", "_pop", "_samp", ".collect", "_agg")
    left_out = (*aggregates, *UNORDERED, "percentile")
    cases = [case for case in recorded("expressions") if "value" in case]
    cases = [case for case in cases if not any(part in case["code"] for part in left_out)]
    columns = [evaluated(f"({case['code']})").alias(f"c{place}") for place, case in enumerate(cases)]
    assert len(columns) > 150
    with table.select(*columns).execute().collect() as found:
        (row,) = list(found)
    assert {case["code"]: [shown(value)] for case, value in zip(cases, row, strict=True)} == {
        case["code"]: case["value"] for case in cases
    }


def test_what_flink_refuses_is_refused_in_its_words() -> None:
    table = one_row(environment("batch"))
    for case in recorded("expressions"):
        if "error" in case:
            with pytest.raises(ScurryError) as refused:
                table.select(evaluated(case["code"]))
            assert case["error"] in str(refused.value)


@pytest.mark.parametrize("mode", ["batch", "streaming"])
def test_operations_have_flinks_columns_rows_and_words(mode: str, tmp_path: Path) -> None:
    names = tables(environment(mode), tmp_path)
    cases = recorded(mode)
    assert len(cases) > 90
    for case in cases:
        if "error" in case:
            with pytest.raises(ScurryError) as refused:
                evaluated(case["code"], **names)
            assert case["error"] in str(refused.value), case["code"]
        else:
            table = evaluated(case["code"], **names)
            assert str(table.get_resolved_schema()) == case["schema"], case["code"]
            if "rows" in case:
                assert sorted(rows(table)) == sorted(case["rows"]), case["code"]
