"""Files that jobs read as they appear: what the scenarios share that are stopped and started again.

A job has a directory: what it reads and writes, and its checkpoints, from which it resumes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from scurry.common import Configuration, Duration, Encoder, Types, WatermarkStrategy
from scurry.common.job_client import JobClient
from scurry.datastream import DataStream, StreamExecutionEnvironment
from scurry.datastream.connectors.file_system import FileSink, FileSource, StreamFormat


def environment(directory: Path, **settings: str) -> StreamExecutionEnvironment:
    """Return the environment of a job that resumes from the checkpoints in its directory."""
    checkpoints = {"execution.checkpointing.dir": str(directory / "checkpoints")}
    return StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(checkpoints | settings))


def lines(env: StreamExecutionEnvironment, directory: Path) -> DataStream[str]:
    """Return the lines of the files in a directory, and of those that will come."""
    directory.mkdir(parents=True, exist_ok=True)
    files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(directory))
    source = files.monitor_continuously(Duration.of_millis(50)).build()
    name = directory.name
    return env.from_source(source, WatermarkStrategy.no_watermarks(), name, Types.STRING()).uid(name)


def write(results: DataStream[str], directory: Path) -> None:
    """Write results to files, each exactly once."""
    results.sink_to(FileSink.for_row_format(str(directory), Encoder.simple_string_encoder()).build())


def add(directory: Path, *content: str) -> None:
    """Let a file appear, whole."""
    directory.mkdir(parents=True, exist_ok=True)
    number = sum(1 for _ in directory.iterdir())
    hidden = directory / f".{number}"
    hidden.write_text("".join(f"{line}\n" for line in content))
    os.rename(hidden, directory / f"{number:04}.csv")


def written(directory: Path) -> list[str]:
    """Return the lines that a job has committed, sorted."""
    files = (file for file in directory.rglob("*") if file.is_file() and not file.name.startswith((".", "_")))
    return sorted(line for file in files for line in file.read_text().splitlines())


def records_read(client: JobClient) -> int:
    """Return how many records this start of a job has read and committed."""
    return sum(checkpoint.records for checkpoint in client.checkpoints())


def until(condition: Callable[[], object]) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + 120
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("the job has not done what was expected")
        time.sleep(0.01)
