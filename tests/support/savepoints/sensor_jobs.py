"""Starting, stopping and going on with the programs of `program`."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from scurry.common.job_client import JobClient
from scurry.common.job_status import JobStatus
from scurry.datastream import DataStream, StreamExecutionEnvironment
from scurry.errors import JobError
from support.held_source import hold_at
from support.savepoints.sensor_program import RECORDS, environment, lines, start

Build = Callable[[StreamExecutionEnvironment], list[DataStream]]


class Job:
    """Starts programs, one after another, each with an output and a checkpoint directory of its own."""

    def __init__(self, runner: str, place: Path) -> None:
        self.runner, self.place = runner, place
        self.outputs: list[Path] = []
        self.hold = place / "hold"

    def start(
        self,
        build: Build,
        parallelism: int = 2,
        savepoint: str | None = None,
        held_at: int = RECORDS // 2,
        **settings: str,
    ) -> JobClient:
        """Start a program, which reads up to a record until `finish` lets it read the others."""
        self.hold.parent.mkdir(parents=True, exist_ok=True)
        hold_at(self.hold, held_at)
        settings["pipeline__global_job_parameters"] = f"hold:{self.hold}"
        output = self.place / f"output-{len(self.outputs)}"
        self.outputs.append(output)
        settings.setdefault("execution__checkpointing__dir", str(self.place / f"checkpoint-{len(self.outputs)}"))
        if self.runner == "spark":
            settings.setdefault("spark__sql__shuffle__partitions", "2")  # three subtasks share them
        if savepoint is not None:
            settings["execution__state_recovery__path"] = savepoint
        env = environment(self.runner, parallelism, **settings)
        return start(env, output, *build(env))

    def wait(self, client: JobClient, kind: str = "running") -> None:
        """Waits until the job has written something; it is in the middle then."""
        give_up = time.monotonic() + 120
        while not lines(self.outputs[-1], kind=kind):
            assert time.monotonic() < give_up and not client.get_job_status().result().is_terminal_state()
            time.sleep(0.02)

    def stop(self, client: JobClient, drain: bool = False, kind: str = "running") -> str:
        """Stops a job in the middle."""
        self.wait(client, kind)
        path = client.stop_with_savepoint(drain, str(self.place / "savepoints")).result()
        assert client.get_job_status().result() == JobStatus.FINISHED
        return path

    def finish(self, client: JobClient) -> list[str]:
        """Lets a job read everything and waits for its end; returns what all programs so far have written."""
        self.hold.unlink()
        client.get_job_execution_result().result()
        return lines(*self.outputs)


def refusal(job: Job, client: JobClient) -> str:
    """What a job says that does not start."""
    job.hold.unlink()
    with pytest.raises(JobError) as failure:
        client.get_job_execution_result().result()
    return str(failure.value)
