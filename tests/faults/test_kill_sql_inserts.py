"""A streaming INSERT of SQL that is killed: every row is in every table once.

`SCURRY_KILLS` says how many kills of each kind (20), `SCURRY_SEED` repeats a run.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import deltalake
import psycopg
import pyarrow as pa
import pytest
from pyiceberg.catalog import load_catalog

from support.faults.job_directory import Place
from support.faults.sql_inserts import NUMBERS, kill_often, script, write_numbers

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]

EXPECTED = [(number, f"p{number % 2}") for number in NUMBERS]


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_numbers(tmp_path_factory.mktemp("numbers") / "files")


def of_files(place: Place) -> list[tuple[int, str]]:
    assert list((place.output / "files").rglob(".*")) == [], "files of failed attempts are left"
    for partition in ("p0", "p1"):
        assert (place.output / "files" / f"p={partition}" / "_SUCCESS").exists()
    lines = [
        (json.loads(line)["n"], file.parent.name.removeprefix("p="))
        for file in place.visible("files")
        for line in file.read_text().splitlines()
    ]
    return sorted(lines)


def of_delta(place: Place) -> list[tuple[int, str]]:
    rows = pa.table(deltalake.DeltaTable(str(place.output / "delta")).to_pyarrow_table()).to_pylist()
    return sorted((row["n"], row["p"]) for row in rows)


def catalog_of(place: Place) -> dict[str, str]:
    return {"uri": f"sqlite:///{place.root}/catalog.db", "warehouse": f"file://{place.output}/warehouse"}


def of_iceberg(place: Place) -> list[tuple[int, str]]:
    table = load_catalog("c", type="sql", **catalog_of(place)).load_table("db.numbers")
    return sorted((row["n"], row["p"]) for row in table.scan().to_arrow().to_pylist())


def files_and_lakes(place: Place) -> Mapping[str, str]:
    iceberg = ", ".join(f"'{key}' = '{value}'" for key, value in catalog_of(place).items())
    return {
        "delta": f") PARTITIONED BY (p) WITH ('connector' = 'delta', 'table-path' = '{place.output}/delta')",
        "iceberg": ") WITH ('connector' = 'iceberg', 'catalog-name' = 'c', 'catalog-type' = 'sql', "
        f"'catalog-database' = 'db', 'catalog-table' = 'numbers', {iceberg})",
        "files": ") PARTITIONED BY (p) WITH ('connector' = 'filesystem', 'format' = 'json', "
        f"'path' = '{place.output}/files', 'sink.partition-commit.policy.kind' = 'success-file')",
    }


@pytest.mark.parametrize("runner", [pytest.param("spark", marks=pytest.mark.in_turn), "local"])
def test_inserts_into_files_and_lakes(
    runner: str, numbers: Path, chance: random.Random, faults: int, tmp_path: Path
) -> None:
    def check(place: Place) -> None:
        assert of_delta(place) == EXPECTED
        assert of_iceberg(place) == EXPECTED
        assert of_files(place) == EXPECTED

    def versions(place: Place) -> object:
        return len(list((place.output / "delta" / "_delta_log").glob("*.json")))

    def program(place: Place) -> Path:
        return script(place, files_and_lakes(place))

    kill_often(lambda number: Place.new(tmp_path, number, numbers), program, check, faults, chance, versions, runner)


@pytest.mark.postgres
@pytest.mark.parametrize("runner", [pytest.param("spark", marks=pytest.mark.in_turn), "local"])
def test_inserts_into_postgres(
    runner: str, numbers: Path, chance: random.Random, faults: int, tmp_path: Path, postgres_server: Any
) -> None:
    def job(number: int) -> Place:
        postgres_server.empty()
        with psycopg.connect(postgres_server.conninfo) as connection:
            connection.execute("CREATE TABLE appended (n integer, p text)")
            connection.execute("CREATE TABLE keyed (n integer PRIMARY KEY, p text)")
        return Place.new(tmp_path, number, numbers)

    def sinks(place: Place) -> Mapping[str, str]:
        login = f"'url' = '{postgres_server.url}', 'username' = 'scurry', 'password' = 'correct-horse'"
        return {
            "appended": f") WITH ('connector' = 'jdbc', 'table-name' = 'appended', {login})",
            "keyed": f", PRIMARY KEY (n) NOT ENFORCED) WITH ('connector' = 'jdbc', 'table-name' = 'keyed', {login})",
        }

    def rows(table: str) -> list[tuple[int, str]]:
        with psycopg.connect(postgres_server.conninfo) as connection:
            return connection.execute(f"SELECT n, p FROM {table} ORDER BY n").fetchall()

    def check(place: Place) -> None:
        assert rows("appended") == EXPECTED
        assert rows("keyed") == EXPECTED

    kill_often(
        job,
        lambda place: script(place, sinks(place)),
        check,
        faults,
        chance,
        lambda place: len(rows("appended")),
        runner,
    )
