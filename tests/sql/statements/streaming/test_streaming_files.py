"""Tables of files in STREAMING: discovery, partitions, metadata columns, and input that cannot be read."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from scurry.errors import ScurryError
from scurry.table import EnvironmentSettings, TableEnvironment
from support.statements.tables import rows


@pytest.fixture
def env() -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    made.get_config().set("table.local-time-zone", "UTC").set("scurry.runner", "local").set("parallelism.default", "2")
    return made


def define(env: TableEnvironment, columns: str, path: Path, **options: str) -> None:
    given = {"connector": "filesystem", "path": str(path), "format": "json"}
    given |= {key.replace("__", "-").replace("_", "."): value for key, value in options.items()}
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    env.execute_sql(f"CREATE TABLE t ({columns} WITH ({listed})")


def write(path: Path, *records: Any) -> None:
    """Write a file that is there at once, with a line per record."""
    path.parent.mkdir(parents=True, exist_ok=True)
    hidden = path.with_name(f".{path.name}")
    hidden.write_text("".join(f"{record if isinstance(record, str) else json.dumps(record)}\n" for record in records))
    hidden.rename(path)


def take(found: Iterator[Any], count: int) -> list[Any]:
    return sorted((tuple(next(found)) for _ in range(count)), key=str)


def test_new_files_are_found_in_new_partitions_too(env: TableEnvironment, tmp_path: Path) -> None:
    write(tmp_path / "day=2024-01-01" / "a", {"n": 1})
    define(env, "n INT, `day` DATE) PARTITIONED BY (`day`)", tmp_path, source_monitor__interval="20 ms")
    with closing(env.execute_sql("SELECT n, CAST(`day` AS STRING) FROM t").collect()) as found:
        assert take(found, 1) == [(1, "2024-01-01")]
        write(tmp_path / "day=2024-01-01" / "b", {"n": 2})
        write(tmp_path / "day=2024-01-02" / "a", {"n": 3})
        assert take(found, 2) == [(2, "2024-01-01"), (3, "2024-01-02")]
        write(tmp_path / "day=__DEFAULT_PARTITION__" / "a", {"n": 4})
        assert take(found, 1) == [(4, None)]


def test_without_an_interval_the_files_are_read_once(env: TableEnvironment, tmp_path: Path) -> None:
    write(tmp_path / "a", {"n": 1}, {"n": 2})
    define(env, "n INT)", tmp_path)
    assert rows(env, "SELECT n FROM t") == [(1,), (2,)]


def test_metadata_are_those_of_the_file(env: TableEnvironment, tmp_path: Path) -> None:
    write(tmp_path / "a", {"n": 1})
    os.utime(tmp_path / "a", (1_700_000_000, 1_700_000_000))
    columns = (
        "n INT, p STRING NOT NULL METADATA FROM 'file.path', `name` STRING NOT NULL METADATA FROM 'file.name', "
        "s BIGINT NOT NULL METADATA FROM 'file.size', m TIMESTAMP_LTZ(3) NOT NULL METADATA FROM "
        "'file.modification-time')"
    )
    define(env, columns, tmp_path, source_monitor__interval="20 ms")
    with closing(env.execute_sql("SELECT n, p, `name`, s, CAST(m AS STRING) FROM t").collect()) as found:
        assert take(found, 1) == [(1, str(tmp_path / "a"), "a", 9, "2023-11-14 22:13:20.000")]


def test_only_paths_that_match_the_pattern_are_read(env: TableEnvironment, tmp_path: Path) -> None:
    write(tmp_path / "a.json", {"n": 1})
    write(tmp_path / "a.txt", "no json")
    define(env, "n INT)", tmp_path, source_path_regex__pattern=".*json")
    assert rows(env, "SELECT n FROM t") == [(1,)]


def test_input_that_cannot_be_read_is_named_with_file_and_line(env: TableEnvironment, tmp_path: Path) -> None:
    write(tmp_path / "a", {"n": 1}, {"n": "x"})
    define(env, "n INT)", tmp_path)
    with pytest.raises(ScurryError, match=r"/a:2: .*n"):
        rows(env, "SELECT n FROM t")


def test_input_that_cannot_be_read_is_skipped_if_told(env: TableEnvironment, tmp_path: Path) -> None:
    write(tmp_path / "a", {"n": 1, "s": "a"}, "no json", {"n": "x", "s": "b"}, {"n": 3, "s": "c"})
    define(env, "n INT, s STRING)", tmp_path, json_ignore__parse__errors="true")
    assert rows(env, "SELECT n, s FROM t") == [(1, "a"), (3, "c"), (None, "b")]


def test_rows_are_written_into_the_directories_of_their_partitions(env: TableEnvironment, tmp_path: Path) -> None:
    define(env, "n INT, p STRING) PARTITIONED BY (p)", tmp_path)
    env.execute_sql("INSERT INTO t VALUES (1, 'a'), (2, 'b=c'), (3, CAST(NULL AS STRING))").wait()
    env.execute_sql("INSERT INTO t PARTITION (p = 'a') VALUES (4)").wait()
    written = [(file.parent.name, line) for file in tmp_path.rglob("part-*") for line in file.read_text().splitlines()]
    assert sorted(written) == [
        ("p=__DEFAULT_PARTITION__", '{"n":3}'),
        ("p=a", '{"n":1}'),
        ("p=a", '{"n":4}'),
        ("p=b%3Dc", '{"n":2}'),
    ]
    assert rows(env, "SELECT n, p FROM t") == [(1, "a"), (2, "b=c"), (3, None), (4, "a")]


TIMED = "n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)"
FIRST_WINDOW = (
    "SELECT SUM(n) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' SECOND)) GROUP BY window_start, window_end"
)


def at(milliseconds: int) -> str:
    return f"2024-01-01 00:00:{milliseconds / 1000:06.3f}"


@pytest.mark.parametrize(("strategy", "expected"), [("on-event", [(1,), (4,)]), ("on-periodic", [(3,), (4,)])])
def test_watermarks_are_emitted_as_the_table_says(
    env: TableEnvironment, tmp_path: Path, strategy: str, expected: list[Any]
) -> None:
    # the second row is late only if the first one has caused a watermark at once
    env.get_config().set("parallelism.default", "1").set("pipeline.auto-watermark-interval", "5 s")
    write(tmp_path / "a", {"n": 1, "ts": at(900)}, {"n": 4, "ts": at(1000)}, {"n": 2, "ts": at(800)})
    define(env, TIMED, tmp_path, **{"scan_watermark_emit_strategy": strategy})
    assert rows(env, FIRST_WINDOW) == expected


def test_an_idle_reader_does_not_hold_back_the_watermark(env: TableEnvironment, tmp_path: Path) -> None:
    write(tmp_path / "a", {"n": 1, "ts": at(0)}, {"n": 2, "ts": at(5000)})
    define(env, TIMED, tmp_path, source_monitor__interval="20 ms", scan_watermark_idle__timeout="100 ms")
    with closing(env.execute_sql(FIRST_WINDOW).collect()) as found:
        assert take(found, 1) == [(1,)]
