"""Materialized tables that a process refreshes: another one resumes them when it has ended, and not before."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scurry.errors import ValidationError
from scurry.table import EnvironmentSettings, TableEnvironment
from support.session.refreshed_tables import LakeTables
from support.session.shell import wait_for

PROGRAM = Path(__file__).parent / "programs" / "refreshing.py"


class Processes(LakeTables):
    """Processes that refresh a table, one after the other."""

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        (home / "lake" / "shop").mkdir(parents=True)
        self.write(3)
        self.processes: list[subprocess.Popen[str]] = []

    def start(self, mode: str) -> None:
        command = [sys.executable, str(PROGRAM), str(self.home), mode]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.processes.append(process)
        assert process.stdout is not None and process.stdout.readline() == "refreshing\n"

    def kill(self) -> None:
        while self.processes:
            process = self.processes.pop()
            process.kill()
            process.communicate()


@pytest.fixture
def processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Processes]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    made = Processes(tmp_path)
    yield made
    made.kill()


def here(home: Path) -> TableEnvironment:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set("scurry.runner", "local").set("execution.checkpointing.interval", "50 ms")
    env.execute_sql(f"CREATE CATALOG lake WITH ('type' = 'delta', 'warehouse' = '{home}/lake')")
    return env


def shown(env: TableEnvironment) -> dict[str, str]:
    return {row[0]: row[1] for row in env.execute_sql("DESCRIBE EXTENDED lake.shop.mt").collect()}


def test_a_killed_process_loses_and_repeats_nothing_in_continuous_mode(processes: Processes) -> None:
    processes.start("CONTINUOUS")
    wait_for(lambda: processes.rows() == processes.copied())
    for _ in range(2):
        processes.write(4)
        processes.kill()
        processes.write(4)
        processes.start("RESUME")
        wait_for(lambda: processes.rows() == processes.copied())


def test_a_killed_process_loses_no_refresh_in_full_mode(processes: Processes) -> None:
    processes.start("FULL")
    wait_for(lambda: processes.rows() == processes.summed())
    processes.write(4)
    processes.kill()
    processes.start("RESUME")
    wait_for(lambda: processes.rows() == processes.summed())


def test_only_one_process_refreshes_a_table(processes: Processes) -> None:
    processes.start("CONTINUOUS")
    env = here(processes.home)
    for action in ("SUSPEND", "RESUME"):
        with pytest.raises(ValidationError, match="is refreshed by another process, which runs"):
            env.execute_sql(f"ALTER MATERIALIZED TABLE lake.shop.mt {action}")
    with pytest.raises(ValidationError, match="is refreshed by another process, which runs"):
        env.execute_sql("DROP MATERIALIZED TABLE lake.shop.mt")
    processes.kill()
    assert shown(env)["refresh status"] == "INTERRUPTED"
    with pytest.raises(ValidationError, match="the process that did has ended"):
        env.execute_sql("ALTER MATERIALIZED TABLE lake.shop.mt SUSPEND")
    env.execute_sql("ALTER MATERIALIZED TABLE lake.shop.mt RESUME")
    assert shown(env)["refresh status"] == "ACTIVATED"
    env.execute_sql("DROP MATERIALIZED TABLE lake.shop.mt")
