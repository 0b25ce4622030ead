"""A job in this process stops with a savepoint in an object store, and goes on from it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.savepoints.sensor_jobs import Job
from support.savepoints.sensor_program import everything, goes_on
from support.servers.seaweedfs import SeaweedServer, client_of, environment_of

pytestmark = pytest.mark.servers


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with SeaweedServer() as made:
        client_of(made.port).create_bucket(Bucket="savepoints")
        for name, value in environment_of(made.port).items():
            monkeypatch.setenv(name, value)
        yield "s3://savepoints/sensors"


def test_a_job_goes_on_from_an_object_store(tmp_path: Path, bucket: str, undisturbed: list[str]) -> None:
    job = Job("local", tmp_path)
    client = job.start(everything, parallelism=2)
    job.wait(client)
    path = client.stop_with_savepoint(False, bucket).result()
    assert path.startswith(bucket)
    assert job.finish(job.start(goes_on, parallelism=3, savepoint=path)) == undisturbed
