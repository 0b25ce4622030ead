"""A STREAMING query of a table of files on Spark: discovery, partitions and metadata, success files."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from scurry.table import EnvironmentSettings, TableEnvironment

pytestmark = pytest.mark.spark


def write(path: Path, *numbers: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    hidden = path.with_name(f".{path.name}")
    hidden.write_text("".join(f"{json.dumps({'n': number})}\n" for number in numbers))
    hidden.rename(path)


def test_partitions_that_are_added_are_read_and_written(spark: Any, tmp_path: Path) -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set("parallelism.default", "2")
    env.execute_sql(
        "CREATE TABLE t (n INT, p STRING, f STRING NOT NULL METADATA FROM 'file.name') PARTITIONED BY (p) WITH ("
        f"'connector' = 'filesystem', 'format' = 'json', 'path' = '{tmp_path}/in', 'source.monitor-interval' = '50 ms')"
    )
    env.execute_sql(
        "CREATE TABLE o (n INT, f STRING, p STRING) PARTITIONED BY (p) WITH ('connector' = 'filesystem', "
        f"'format' = 'json', 'path' = '{tmp_path}/out', 'sink.partition-commit.policy.kind' = 'success-file')"
    )

    def written() -> list[tuple[Any, ...]]:
        lines = [
            (file.parent.name, *json.loads(line).values())
            for file in (tmp_path / "out").rglob("part-*")
            for line in file.read_text().splitlines()
        ]
        return sorted(lines)

    def until(expected: list[tuple[Any, ...]]) -> None:
        end = time.monotonic() + 60
        while written() != expected:
            assert time.monotonic() < end, written()
            time.sleep(0.1)

    write(tmp_path / "in" / "p=a" / "first", 1, 2)
    job = env.execute_sql("INSERT INTO o SELECT n, f, p FROM t").get_job_client()
    assert job is not None
    try:
        until([("p=a", 1, "first"), ("p=a", 2, "first")])
        write(tmp_path / "in" / "p=b" / "second", 3)
        until([("p=a", 1, "first"), ("p=a", 2, "first"), ("p=b", 3, "second")])
        end = time.monotonic() + 120
        while not (tmp_path / "out" / "p=b" / "_SUCCESS").exists():
            assert time.monotonic() < end, "the partition is not marked"
            time.sleep(0.1)
    finally:
        job.cancel().result()
