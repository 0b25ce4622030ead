"""Dates and timestamps that a format of files cannot keep are refused where they are written, with column and value."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import orc

from scurry.errors import JobError, MalformedRecordError
from scurry.table import EnvironmentSettings, TableEnvironment


def table(tmp_path: Path, format: str, type: str) -> TableEnvironment:
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    env.get_config().set("scurry.runner", "local")
    options = f"'connector' = 'filesystem', 'format' = '{format}', 'path' = '{tmp_path}'"
    env.execute_sql(f"CREATE TABLE t (v {type}) WITH ({options})")
    return env


def texts(env: TableEnvironment) -> list[str]:
    with env.execute_sql("SELECT CAST(v AS STRING) FROM t").collect() as rows:
        return sorted(str(row[0]) for row in rows)


BEYOND = "TIMESTAMP '9999-12-31 00:00:00' + INTERVAL '3' YEAR"


@pytest.mark.parametrize(
    ("type", "value", "shown"),
    [
        ("TIMESTAMP(3)", BEYOND, r"column 'v' \(TIMESTAMP\(3\)\).*year 1 to 9999, got \+10002-12-31 00:00:00"),
        ("DATE", "DATE '9999-12-31' + INTERVAL '1' DAY", r"column 'v' \(DATE\).*got \+10000-01-01"),
        ("DATE", "DATE '0001-01-01' - INTERVAL '1' DAY", r"column 'v' \(DATE\).*got 0000-12-31"),
        ("ROW<d DATE>", "ROW(DATE '9999-12-31' + INTERVAL '1' DAY)", r"column 'v' \(ROW<`d` DATE>\)"),
    ],
)
def test_avro_has_the_years_of_python(type: str, value: str, shown: str, tmp_path: Path) -> None:
    with pytest.raises(JobError, match=shown):
        table(tmp_path, "avro", type).execute_sql(f"INSERT INTO t SELECT {value}").wait()


@pytest.mark.parametrize("type", ["TIMESTAMP(3)", "TIMESTAMP(6)", "TIMESTAMP_LTZ(3)"])
@pytest.mark.parametrize("value", ["TIMESTAMP '1677-09-21 00:12:43'", "TIMESTAMP '2262-04-11 23:47:17'", BEYOND])
def test_orc_writes_no_timestamp_that_it_cannot_read(type: str, value: str, tmp_path: Path) -> None:
    with pytest.raises(JobError, match=r"column 'v': timestamps of ORC files are from 1677-09-21 .* to 2262-04-11"):
        table(tmp_path, "orc", type).execute_sql(f"INSERT INTO t SELECT CAST({value} AS {type})").wait()


@pytest.mark.parametrize(
    ("type", "value"),
    [
        ("ROW<a INT, b TIMESTAMP(3)>", f"ROW(1, {BEYOND})"),
        ("ARRAY<TIMESTAMP(3)>", f"ARRAY[{BEYOND}]"),
        ("MAP<STRING, TIMESTAMP(3)>", f"MAP['k', {BEYOND}]"),
    ],
)
def test_timestamps_within_values_are_checked_too(type: str, value: str, tmp_path: Path) -> None:
    with pytest.raises(JobError, match="column 'v': timestamps of ORC files"):
        table(tmp_path, "orc", type).execute_sql(f"INSERT INTO t SELECT {value}").wait()


def test_the_first_and_the_last_timestamp_of_orc_are_read(tmp_path: Path) -> None:
    env = table(tmp_path, "orc", "TIMESTAMP(3)")
    values = "TIMESTAMP '1677-09-21 00:12:44', TIMESTAMP '2262-04-11 23:47:16'".split(", ")
    env.execute_sql(f"INSERT INTO t VALUES {', '.join(f'({value})' for value in values)}").wait()
    assert texts(env) == ["1677-09-21 00:12:44.000", "2262-04-11 23:47:16.000"]


def test_orc_files_of_others_with_such_timestamps_are_malformed(tmp_path: Path) -> None:
    orc.write_table(pa.table({"v": pa.array([1 << 50], pa.timestamp("ms"))}), str(tmp_path / "of-flink.orc"))
    with pytest.raises((MalformedRecordError, JobError), match="a timestamp outside of 1677 to 2262"):
        texts(table(tmp_path, "orc", "TIMESTAMP(3)"))
