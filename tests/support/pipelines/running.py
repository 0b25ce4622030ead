"""Pipelines as jobs of this process: to their end, or until a condition holds."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from scurry.common import Configuration
from scurry.sql.pipelines.definition import read_pipeline
from scurry.sql.pipelines.running import check_tables, environment

GIVE_UP_SECONDS = 120


def configuration(checkpoints: Path | None = None) -> Configuration:
    made = Configuration().set_string("scurry.runner", "local").set_string("restart-strategy.type", "none")
    if checkpoints is not None:
        made.set_string("execution.checkpointing.dir", str(checkpoints))
    return made


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def run_until(path: Path, condition: Callable[[], bool], checkpoints: Path | None = None) -> None:
    """Runs a pipeline until a condition holds, then cancels it."""
    pipeline = read_pipeline(path)
    check_tables(pipeline)
    client = environment(pipeline, configuration(checkpoints)).execute_async(pipeline.name)
    give_up = time.monotonic() + GIVE_UP_SECONDS
    try:
        while not condition():
            status = client.get_job_status().result()
            if status.name in ("FAILED", "FINISHED"):
                client.get_job_execution_result().result()
            assert time.monotonic() < give_up and status.name != "FINISHED", status
            time.sleep(0.05)
    finally:
        if client.get_job_status().result().name == "RUNNING":
            client.cancel().result()
