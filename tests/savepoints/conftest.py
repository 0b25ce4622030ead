from __future__ import annotations

from pathlib import Path

import pytest

from support.savepoints.sensor_jobs import Job
from support.savepoints.sensor_program import alarms, environment, lines, readings, running, start, totals, windows


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What a job of all kinds of state writes when nobody stops it."""
    output: Path = tmp_path_factory.mktemp("undisturbed")
    env = environment("local", 1)
    stream = readings(env)
    summed = windows(stream)
    start(env, output, running(stream), summed, totals(summed), alarms(env, stream)).get_job_execution_result().result()
    found = lines(output)
    assert len([line for line in found if line.startswith("running")]) == 3000
    assert {line.split()[0] for line in found} == {"running", "sum", "timer", "window", "alarm"}
    return found


@pytest.fixture(params=["local", pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.in_turn])])
def job(request: pytest.FixtureRequest, tmp_path: Path) -> Job:
    """Jobs on each runner."""
    return Job(request.param, tmp_path)


@pytest.fixture
def local(tmp_path: Path) -> Job:
    """Jobs in this process."""
    return Job("local", tmp_path)
