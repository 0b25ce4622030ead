"""Options of file sinks that scurry does not act on are refused, not ignored."""

from __future__ import annotations

from pathlib import Path

import pytest

from scurry.errors import UnsupportedError
from scurry.table import EnvironmentSettings, TableEnvironment


def insert(directory: Path, settings: EnvironmentSettings, options: str) -> None:
    env = TableEnvironment.create(settings)
    env.get_config().set("scurry.runner", "local")
    env.execute_sql(
        f"CREATE TABLE t (a INT, p STRING) PARTITIONED BY (p) WITH ('connector' = 'filesystem', "
        f"'path' = '{directory}', 'format' = 'csv', {options})"
    )
    env.execute_sql("INSERT INTO t VALUES (1, 'x')").wait()


@pytest.mark.parametrize(
    "options",
    [
        "'auto-compaction' = 'true'",
        "'sink.shuffle-by-partition.enable' = 'true'",
        "'sink.partition-commit.policy.kind' = 'metastore,success-file'",
        "'partition.time-extractor.kind' = 'custom'",
    ],
)
def test_an_option_that_would_do_nothing_is_refused(tmp_path: Path, options: str) -> None:
    with pytest.raises(UnsupportedError, match=options.split("'")[1]):
        insert(tmp_path, EnvironmentSettings.in_batch_mode(), options)


def test_a_complete_partition_is_marked_in_batch(tmp_path: Path) -> None:
    marked = (
        "'sink.partition-commit.policy.kind' = 'success-file', 'sink.partition-commit.trigger' = 'partition-time', "
        "'sink.partition-commit.delay' = '1 h'"
    )
    insert(tmp_path, EnvironmentSettings.in_batch_mode(), marked)
    assert (tmp_path / "p=x" / "_SUCCESS").is_file()


def test_partitions_are_not_marked_by_time_in_streaming(tmp_path: Path) -> None:
    marked = "'sink.partition-commit.policy.kind' = 'success-file', 'sink.partition-commit.delay' = '1 h'"
    with pytest.raises(UnsupportedError, match="partition-time"):
        insert(tmp_path, EnvironmentSettings.in_streaming_mode(), marked)
