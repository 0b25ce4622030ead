"""Values of `table.local-time-zone`, beside Flink's rule on Java 17."""

from __future__ import annotations

from pathlib import Path

import pytest

from scurry.errors import ArgumentError, ValidationError
from scurry.sql.functions.time_zones import check_session_zone
from scurry.table import EnvironmentSettings, TableEnvironment

RECORDED = Path(__file__).parents[2] / "fixtures" / "java" / "session_time_zones.txt"
ZONES = [line.partition(" ")[::2] for line in RECORDED.read_text(encoding="utf-8").splitlines()[1:]]


def is_taken(zone: str) -> bool:
    try:
        check_session_zone(zone)
    except ValueError:
        return False
    return True


def environment() -> TableEnvironment:
    found = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    found.get_config().set("scurry.runner", "local")
    return found


def test_the_zones_that_flink_takes_are_taken() -> None:
    assert [zone for taken, zone in ZONES if is_taken(zone) != (taken == "true")] == []


@pytest.mark.parametrize("zone", ["Europe/Berln", "UTC+25:00", "UTC+8", "+08:00", "Z", "EST", "GMT-3:30"])
def test_a_zone_that_flink_refuses_is_refused_where_it_is_set(zone: str) -> None:
    config = environment().get_config()
    with pytest.raises(ValidationError, match=r"^Invalid time zone\. The value should be a Time Zone Database .*"):
        config.set("table.local-time-zone", zone)
    with pytest.raises(ArgumentError, match="Invalid time zone"):
        config.set_local_timezone(zone)


def test_a_zone_of_the_configuration_is_checked_before_a_statement_runs() -> None:
    env = environment()
    env.get_config().get_configuration().set_string("table.local-time-zone", "Europe/Berln")
    with pytest.raises(ValidationError, match=r"It is 'Europe/Berln' in 'table\.local-time-zone'"):
        env.execute_sql("SELECT 1").print()
