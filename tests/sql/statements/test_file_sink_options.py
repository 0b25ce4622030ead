"""Options of file sinks: what scurry does not act on is refused, partitions are marked when they are complete."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from scurry.errors import UnsupportedError, ValidationError
from scurry.table import EnvironmentSettings, TableEnvironment


def insert(
    directory: Path, settings: EnvironmentSettings, options: str, query: str = "VALUES (1, 'x')", kind: str = "csv"
) -> None:
    env = TableEnvironment.create(settings)
    env.get_config().set("scurry.runner", "local")
    env.execute_sql(
        f"CREATE TABLE t (a INT, p STRING) PARTITIONED BY (p) WITH ('connector' = 'filesystem', "
        f"'path' = '{directory}', 'format' = '{kind}', {options})"
    )
    env.execute_sql(
        "CREATE TABLE numbers (a INT) WITH ('connector' = 'datagen', 'rows-per-second' = '100', "
        "'fields.a.kind' = 'sequence', 'fields.a.start' = '1', 'fields.a.end' = '1000000')"
    )
    result = env.execute_sql(f"INSERT INTO t {query}")
    if "numbers" not in query:
        result.wait()
        return
    job = result.get_job_client()
    assert job is not None
    try:
        _wait_for(directory / "p=x" / "_SUCCESS")
    finally:
        job.cancel().result()


def _wait_for(path: Path) -> None:
    end = time.monotonic() + 120
    while not path.exists():
        assert time.monotonic() < end, f"{path} is not written"
        time.sleep(0.05)


@pytest.mark.parametrize(
    "options",
    [
        "'auto-compaction' = 'true'",
        "'sink.shuffle-by-partition.enable' = 'true'",
        "'sink.partition-commit.policy.kind' = 'custom'",
        "'partition.time-extractor.kind' = 'custom'",
        "'sink.partition-commit.policy.class.parameters' = 'a'",
    ],
)
def test_an_option_that_would_do_nothing_is_refused(tmp_path: Path, options: str) -> None:
    with pytest.raises(UnsupportedError, match=options.split("'")[1]):
        insert(tmp_path, EnvironmentSettings.in_batch_mode(), options)


def test_a_metastore_is_for_tables_of_hive(tmp_path: Path) -> None:
    options = "'sink.partition-commit.policy.kind' = 'metastore,success-file'"
    with pytest.raises(ValidationError) as error:
        insert(tmp_path, EnvironmentSettings.in_streaming_mode(), options)
    assert str(error.value).startswith(
        "Can not configure a 'metastore' partition commit policy for a file system table. You can only configure "
        "'metastore' partition commit policy for a hive table."
    )


def test_an_option_that_the_format_does_not_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="Unsupported options found for 'filesystem'") as error:
        insert(tmp_path, EnvironmentSettings.in_batch_mode(), "'json.nope' = '1'", kind="json")
    assert "Unsupported options: json.nope" in str(error.value)
    assert "json.ignore-parse-errors" in error.value.describe()


def test_a_complete_partition_is_marked_in_batch(tmp_path: Path) -> None:
    marked = (
        "'sink.partition-commit.policy.kind' = 'success-file', 'sink.partition-commit.trigger' = 'partition-time', "
        "'sink.partition-commit.delay' = '1 h'"
    )
    insert(tmp_path, EnvironmentSettings.in_batch_mode(), marked)
    assert (tmp_path / "p=x" / "_SUCCESS").is_file()


def test_a_partition_is_marked_while_an_unbounded_job_runs(tmp_path: Path) -> None:
    marked = "'sink.partition-commit.policy.kind' = 'success-file'"
    insert(tmp_path, EnvironmentSettings.in_streaming_mode(), marked, "SELECT a, 'x' FROM numbers")


def test_what_waits_for_its_delay_is_marked_at_the_end_of_the_job(tmp_path: Path) -> None:
    marked = (
        "'sink.partition-commit.policy.kind' = 'success-file', 'sink.partition-commit.delay' = '1 h', "
        "'sink.partition-commit.success-file.name' = 'done'"
    )
    insert(tmp_path, EnvironmentSettings.in_streaming_mode(), marked)
    assert (tmp_path / "p=x" / "done").is_file()


PARTITION_TIME = (
    "'sink.partition-commit.policy.kind' = 'success-file', 'sink.partition-commit.trigger' = 'partition-time'"
)


def test_a_partition_is_complete_by_its_time_when_the_input_ends(tmp_path: Path) -> None:
    insert(tmp_path, EnvironmentSettings.in_streaming_mode(), PARTITION_TIME)
    assert (tmp_path / "p=x" / "_SUCCESS").is_file()


def test_an_input_without_an_end_completes_no_partition_by_its_time(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="partition-time.*waits for the end of the input"):
        insert(tmp_path, EnvironmentSettings.in_streaming_mode(), PARTITION_TIME, "SELECT a, 'x' FROM numbers")


def test_a_file_that_is_full_takes_no_further_rows(tmp_path: Path) -> None:
    rows = " UNION ALL ".join(["SELECT * FROM (VALUES (1, 'x'))"] * 3)
    insert(tmp_path, EnvironmentSettings.in_batch_mode(), "'sink.rolling-policy.file-size' = '1 b'", rows)
    files = [path for path in (tmp_path / "p=x").iterdir() if path.stat().st_size]
    assert [path.read_text() for path in files] == ["1\n"] * 3


def test_a_table_without_partitions_is_marked_in_batch_only_as_by_flink(tmp_path: Path) -> None:
    for name in ("batch", "streaming"):
        settings = EnvironmentSettings.in_batch_mode() if name == "batch" else EnvironmentSettings.in_streaming_mode()
        env = TableEnvironment.create(settings)
        env.get_config().set("scurry.runner", "local")
        env.execute_sql(
            f"CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path / name}', 'format' = 'csv', "
            "'sink.partition-commit.policy.kind' = 'success-file')"
        )
        env.execute_sql("INSERT INTO t VALUES (1)").wait()
    assert (tmp_path / "batch" / "_SUCCESS").exists()
    assert not (tmp_path / "streaming" / "_SUCCESS").exists()
