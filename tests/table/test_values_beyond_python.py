"""Dates and times that Python does not have: `print` shows them, `collect` names the column."""

from __future__ import annotations

import pytest

from scurry.errors import EvaluationError
from scurry.table import EnvironmentSettings, TableEnvironment


def environment(zone: str) -> TableEnvironment:
    found = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    found.get_config().set("scurry.runner", "local").set("table.local-time-zone", zone)
    return found


@pytest.mark.parametrize(
    ("zone", "milliseconds", "shown"),
    [
        ("Asia/Shanghai", 253402300799000, "+10000-01-01 07:59:5..."),
        ("America/New_York", -62135596800000, "0000-12-31 19:03:58.000"),
    ],
)
def test_print_shows_points_of_time_in_years_that_python_does_not_have(
    zone: str, milliseconds: int, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    environment(zone).execute_sql(f"SELECT TO_TIMESTAMP_LTZ({milliseconds}, 3) AS t").print()
    assert shown in capsys.readouterr().out


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("TIMESTAMP '9999-12-31 12:00:00' + INTERVAL '1' DAY", r"TIMESTAMP\(0\) NOT NULL \+?10000-01-01 12:00:00"),
        ("TIMESTAMPADD(DAY, 1, DATE '9999-12-31')", r"DATE NOT NULL \+?10000-01-01"),
    ],
)
def test_collect_names_the_column_whose_value_python_does_not_have(value: str, shown: str) -> None:
    rows = environment("UTC").execute_sql(f"SELECT 1 AS i, {value} AS far").collect()
    with pytest.raises(EvaluationError, match=rf"column 'far' has the {shown}, but .*CAST\(far AS STRING\)"):
        next(rows)


def test_collect_has_points_of_time_in_any_year_as_instants() -> None:
    (row,) = environment("Asia/Shanghai").execute_sql("SELECT TO_TIMESTAMP_LTZ(253402300799000, 3)").collect()
    assert row[0].seconds == 253402300799
