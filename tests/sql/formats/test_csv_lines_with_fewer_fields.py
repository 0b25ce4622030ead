"""Lines of CSV with fewer fields than the table has columns, as Flink 2.3 answered: by how many columns are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from scurry.errors import MalformedRecordError
from scurry.table import EnvironmentSettings, TableEnvironment

SHORT, MIXED = "ann,1\nbob,2\n", "ann,1\nbob,2,x\ncid\n"


def rows(directory: Path, lines: str, columns: str, options: str = "") -> list[list[object]]:
    (directory / "lines.csv").write_text(lines, encoding="utf-8")
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    env.get_config().set("scurry.runner", "local")
    env.execute_sql(
        "CREATE TABLE t (name STRING, score INT, extra STRING) WITH ('connector' = 'filesystem', 'format' = 'csv', "
        f"'path' = '{directory / 'lines.csv'}'{options})"
    )
    with env.execute_sql(f"SELECT {columns}").collect() as found:
        return [list(row) for row in found]


@pytest.mark.parametrize(
    ("lines", "columns", "expected"),
    [
        (SHORT, "name, score FROM t", [["ann", 1], ["bob", 2]]),
        (SHORT, "score FROM t", [[1], [2]]),
        (SHORT, "extra, name FROM t", [[None, "ann"], [None, "bob"]]),
        (SHORT, "name FROM t WHERE extra IS NULL", [["ann"], ["bob"]]),
        (SHORT, "COUNT(*) FROM t", [[2]]),
        (MIXED, "COUNT(*) FROM t", [[3]]),
        (MIXED, "score FROM t", [[1], [2], [None]]),
    ],
)
def test_columns_that_a_line_does_not_have_are_null(
    tmp_path: Path, lines: str, columns: str, expected: list[list[object]]
) -> None:
    assert rows(tmp_path, lines, columns) == expected


@pytest.mark.parametrize(
    ("lines", "columns", "reason"),
    [
        (SHORT, "* FROM t", "3 fields expected but was 2"),
        (MIXED, "name, score FROM t", "2 fields expected but was 1"),
        (MIXED, "extra, name FROM t", "2 fields expected but was 1"),
    ],
)
def test_a_line_with_fewer_fields_than_columns_are_read_fails(
    tmp_path: Path, lines: str, columns: str, reason: str
) -> None:
    with pytest.raises(MalformedRecordError, match=f"Row length mismatch. {reason}"):
        rows(tmp_path, lines, columns)


def test_such_lines_have_nulls_if_errors_are_ignored(tmp_path: Path) -> None:
    found = rows(tmp_path, MIXED, "* FROM t", ", 'csv.ignore-parse-errors' = 'true'")
    assert found == [["ann", 1, None], ["bob", 2, "x"], ["cid", None, None]]
