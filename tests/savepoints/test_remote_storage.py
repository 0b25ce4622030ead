"""Checkpoints and savepoints on a file system that only Hadoop knows: here one of links, which needs no server."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import pytest

from scurry.common import JobStatus
from scurry.errors import UnsupportedError
from scurry.runtime.savepoint.reading import open_savepoint
from support.savepoints.sensor_jobs import Job
from support.savepoints.sensor_program import everything, goes_on

pytestmark = pytest.mark.spark


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """Where the remote files really are."""
    disk = tmp_path / "disk"
    disk.mkdir(mode=0o700)
    return disk


@pytest.fixture
def settings(disk: Path) -> dict[str, str]:
    """A job's settings; dashes and dots as `program.environment` writes them."""
    name = uuid.uuid4().hex  # Hadoop remembers what it has mounted
    return {
        f"spark__hadoop__fs__viewfs__mounttable__{name}__link__/disk": f"file://{disk}",
        "execution__checkpointing__dir": f"viewfs://{name}/disk/checkpoints",
    }


def test_a_job_with_remote_checkpoints_is_cancelled_and_goes_on(
    tmp_path: Path, disk: Path, settings: dict[str, Any], undisturbed: list[str]
) -> None:
    job = Job("spark", tmp_path)
    client = job.start(everything, **settings)
    job.wait(client)
    assert json.loads((disk / "checkpoints" / "lease.json").read_text())["pid"]
    client.cancel().result()
    assert client.get_job_status().result() == JobStatus.CANCELED
    assert not (disk / "checkpoints" / "lease.json").exists()
    assert json.loads((disk / "checkpoints" / "scurry.json").read_text())
    second = job.start(goes_on, **settings)
    assert sorted(job.finish(second)) == sorted(undisturbed)


def test_a_job_with_remote_checkpoints_takes_a_savepoint_while_it_runs(
    tmp_path: Path, settings: dict[str, Any], undisturbed: list[str]
) -> None:
    job = Job("spark", tmp_path)
    client = job.start(everything, **settings)
    job.wait(client)
    path = client.trigger_savepoint(str(tmp_path / "savepoints")).result()
    assert len(open_savepoint(path).metadata.operators) == 4
    assert sorted(job.finish(client)) == sorted(undisturbed)


def test_what_only_spark_can_reach_is_refused_and_the_job_goes_on(
    tmp_path: Path, settings: dict[str, Any], undisturbed: list[str]
) -> None:
    job = Job("spark", tmp_path)
    client: Any = job.start(everything, **settings)
    job.wait(client)
    with pytest.raises(UnsupportedError, match="viewfs://elsewhere/savepoints cannot be reached: .*libhdfs"):
        client.trigger_savepoint("viewfs://elsewhere/savepoints")
    with pytest.raises(UnsupportedError, match="libhdfs"):
        client.rescale(3)
    assert sorted(job.finish(client)) == sorted(undisturbed)
