"""What of a savepoint a job on Spark checks before it begins with it; none of this starts Spark."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scurry.errors import SavepointTrustError
from scurry.spark.streaming.start import SparkJobStart
from scurry.state import OperatorTransformation, SavepointWriter


@pytest.fixture
def untrusted(tmp_path: Path) -> str:
    state = OperatorTransformation.keyed_state([("ann", {"count": 1})])
    path = SavepointWriter.new_savepoint().with_operator("counts", state).write(str(tmp_path / "savepoint"))
    Path(path, "entries").chmod(0o777)
    return path


def start(root: Path, savepoint: str | None, **configuration: str) -> SparkJobStart:
    """A job on a directory of checkpoints that began with a savepoint."""
    settings = SimpleNamespace(configuration={key.replace("_", "."): text for key, text in configuration.items()})
    job: Any = SimpleNamespace(plan=SimpleNamespace(settings=settings), log=SimpleNamespace(note=lambda text: None))
    directory: Any = SimpleNamespace(savepoint=savepoint)
    return SparkJobStart(job, str(root), directory, lambda: None, lambda: None)


def test_the_savepoint_that_an_interrupted_start_began_with_has_to_be_trusted(tmp_path: Path, untrusted: str) -> None:
    with pytest.raises(SavepointTrustError, match="entries: others can write to it"):
        start(tmp_path, untrusted)._opened(untrusted)  # whether or not the command names it again


def test_what_the_job_itself_has_written_belongs_to_whom_its_workers_run_as(tmp_path: Path, untrusted: str) -> None:
    assert start(tmp_path, None)._opened(untrusted).operators["counts"].entries["page"] == 1
