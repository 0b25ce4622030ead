"""Nexmark's queries as one script of SQL that inserts the changes of each into files, and what Flink leaves of them."""

from __future__ import annotations

import csv
import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scurry.table import DataTypes, EnvironmentSettings, TableEnvironment
from scurry.table.udf import udf
from support.conformance import CONFORMANCE
from support.faults.job_directory import Place
from support.modules import load_module

__all__ = ["QUERIES", "count_char", "expected", "left_by", "script", "write_events"]

NEXMARK = CONFORMANCE / "sql" / "nexmark"
EVENTS = 50_000
#: The queries whose answers do not depend on the clock, and that Flink runs in STREAMING: one job for each line.
QUERIES = {
    "rows": ["q0", "q1", "q2", "q10", "q14", "q14_udf", "q21", "q22"],
    "windows and joins": ["q3", "q5", "q7", "q8", "q11", "q11_tvf", "q13", "q20"],
    "changes": ["q4", "q9", "q15", "q16", "q17", "q18", "q19"],
}
TABLES = {
    "person": "id BIGINT, name STRING, emailAddress STRING, creditCard STRING, city STRING, state STRING, "
    "`dateTime` TIMESTAMP(3), extra STRING",
    "auction": "id BIGINT, itemName STRING, description STRING, initialBid BIGINT, reserve BIGINT, "
    "`dateTime` TIMESTAMP(3), expires TIMESTAMP(3), seller BIGINT, category BIGINT, extra STRING",
    "bid": "auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, `dateTime` TIMESTAMP(3), "
    "extra STRING",
}
PARTITIONED = "q10"


def _count(text: str, char: str) -> int:
    return text.count(char)


#: How often a character is in a text.
count_char = udf(_count, result_type=DataTypes.BIGINT())


def write_events(directory: Path) -> None:
    """Write the events of which Flink's answers were recorded."""
    load_module(NEXMARK / "gen.py", "nexmark_events").write(str(directory), EVENTS)


def expected(name: str) -> dict[str, Any]:
    """Return the number and the digest of the rows that Flink leaves of a query."""
    recorded = json.loads((NEXMARK / f"expected-{EVENTS}.json").read_text())[name]
    assert recorded["deterministic"]
    return {key: recorded["streaming"][key] for key in ("count", "sha256")}


def script(place: Place, queries: Sequence[str], settings: dict[str, str]) -> Path:
    """Write a script that inserts the changes of some queries, values as strings, into files."""
    settings = {
        "execution.checkpointing.dir": str(place.checkpoints),
        "restart-strategy.type": "none",
        "table.local-time-zone": "UTC",
        **settings,
    }
    statements = [f"SET '{key}' = '{value}'" for key, value in settings.items()]
    statements += _definitions(place.readings)
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for statement in _definitions(place.readings):
        env.execute_sql(statement)
    inserts = []
    for name in queries:
        lines = (NEXMARK / "queries" / f"{name}.sql").read_text().splitlines()
        text = "\n".join(line for line in lines if not line.startswith("--")).strip()
        if name == PARTITIONED:
            statements.append(_partitioned(place))
            inserts.append(text.replace("INTO sink", f"INTO {name}"))
            continue
        columns = env.sql_query(text).get_resolved_schema().get_column_names()
        strings = ", ".join(f"`{column}` STRING" for column in columns)
        values = ", ".join(f"CAST(`{column}` AS STRING) AS `{column}`" for column in columns)
        statements.append(
            f"CREATE TABLE {name} ({strings}) WITH ('connector' = 'filesystem', 'format' = 'debezium-json', "
            f"'path' = '{place.output}/{name}')"
        )
        inserts.append(f"INSERT INTO {name} SELECT {values} FROM ({text}) AS changes")
    statements.append("EXECUTE STATEMENT SET BEGIN " + ";\n".join(inserts) + "; END")
    path = place.root / "job.sql"
    path.write_text(";\n".join(statements) + ";\n")
    return path


def _definitions(events: Path) -> list[str]:
    return [
        *(
            f"CREATE TABLE {name} ({columns}, WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '4' SECOND) WITH "
            f"('connector' = 'filesystem', 'path' = '{events}/{name}.json', 'format' = 'json')"
            for name, columns in TABLES.items()
        ),
        "CREATE TABLE side (key BIGINT, `value` STRING) WITH ('connector' = 'filesystem', 'format' = 'csv', "
        f"'path' = '{events}/side.csv')",
        f"CREATE TEMPORARY FUNCTION count_char AS '{__name__}.count_char' LANGUAGE PYTHON",
    ]


def _partitioned(place: Place) -> str:
    return (
        f"CREATE TABLE {PARTITIONED} (auction BIGINT, bidder BIGINT, price BIGINT, `dateTime` TIMESTAMP(3), "
        "extra STRING, dt STRING, hm STRING) PARTITIONED BY (dt, hm) WITH ('connector' = 'filesystem', "
        f"'path' = '{place.output}/{PARTITIONED}', 'format' = 'csv', 'sink.partition-commit.delay' = '1 min', "
        "'sink.partition-commit.trigger' = 'partition-time', 'sink.partition-commit.policy.kind' = 'success-file', "
        "'partition.time-extractor.timestamp-pattern' = '$dt $hm:00')"
    )


def left_by(place: Place, name: str) -> dict[str, Any]:
    """Return the number and the digest of the rows that the changes of a query leave."""
    if name == PARTITIONED:
        return _summary(_partitions(place))
    left: Counter[tuple[Any, ...]] = Counter()
    for file in place.visible(name):
        for line in file.read_text().splitlines():
            change = json.loads(line)
            for side, count in (("before", -1), ("after", 1)):
                if change[side] is not None:
                    left[tuple(change[side].values())] += count
    assert all(count >= 0 for count in left.values()), f"{name} takes back rows that it never gave"
    rows = [list(row) for row in left.elements()]
    return _summary(sorted(rows, key=lambda row: [("" if value is None else value, value is None) for value in row]))


def _partitions(place: Place) -> list[list[str]]:
    rows, marked, root = [], [], place.output / PARTITIONED
    for file in place.visible(PARTITIONED):
        partition = str(file.parent.relative_to(root))
        if file.name == "_SUCCESS":
            marked.append(partition)
        else:
            with open(file, newline="") as lines:
                rows += [[partition, *row] for row in csv.reader(lines)]
    return [*sorted(rows), ["partitions with _SUCCESS", *sorted(marked)]]


def _summary(rows: list[list[Any]]) -> dict[str, Any]:
    text = "\n".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
    return {"count": len(rows), "sha256": hashlib.sha256(text.encode()).hexdigest()}
