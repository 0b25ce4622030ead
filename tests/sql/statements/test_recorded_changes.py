"""Changes of generated STREAMING queries, recorded from Flink 2.3.

Each file begins with the rows of two tables. Of queries over one table the changes have to be those of Flink, in
its order; where two tables are read, Flink's order is that of its threads, so that only the final table counts.
"""

from __future__ import annotations

import csv
import datetime
import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from scurry.table import EnvironmentSettings, TableEnvironment

RECORDED = sorted((Path(__file__).parents[2] / "fixtures" / "streaming_changes").glob("*.jsonl"))
COLUMNS = (
    "id INT, k STRING, v INT, d DECIMAL(5,1), e BIGINT, ts AS TO_TIMESTAMP_LTZ(e, 3), pt AS PROCTIME(), "
    "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
)


def queries() -> Iterator[Any]:
    for path in RECORDED:
        for number, line in enumerate(path.read_text().splitlines()[1:]):
            yield pytest.param(path, json.loads(line), id=f"{path.stem}-{number}")


@pytest.fixture(scope="module")
def environment_of(tmp_path_factory: pytest.TempPathFactory) -> Any:
    @cache
    def made(recorded: Path) -> TableEnvironment:
        env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        settings = {"scurry.runner": "local", "parallelism.default": "1", "table.local-time-zone": "UTC"}
        for key, value in settings.items():
            env.get_config().set(key, value)
        directory = tmp_path_factory.mktemp(recorded.stem)
        with recorded.open() as lines:
            tables = json.loads(lines.readline())
        for name, rows in tables.items():
            path = directory / f"{name}.csv"
            with path.open("w") as file:
                csv.writer(file, lineterminator="\n").writerows(rows)
            env.execute_sql(
                f"CREATE TABLE {name} ({COLUMNS}) WITH ('connector' = 'filesystem', 'path' = '{path}', "
                "'format' = 'csv', 'csv.null-literal' = '')"
            )
        return env

    return made


@pytest.mark.parametrize(("recorded", "query"), list(queries()))
def test_a_query_has_the_changes_of_flink(recorded: Path, query: dict[str, Any], environment_of: Any) -> None:
    with environment_of(recorded).execute_sql(query["sql"]).collect() as rows:
        changes = [f"{row.get_row_kind()!s} {', '.join(map(shown, row))}" for row in rows]
    if query["exact"]:
        assert changes == query["changes"]
    assert final_rows(changes) == final_rows(query["changes"])


def shown(value: Any) -> str:
    return f"{value:%H:%M:%S}.{value.microsecond // 1000:03d}" if isinstance(value, datetime.datetime) else repr(value)


def final_rows(changes: list[str]) -> Counter[str]:
    rows: Counter[str] = Counter()
    for change in changes:
        kind, _, row = change.partition(" ")
        rows[row] += 1 if kind in ("+I", "+U") else -1
    return +rows
