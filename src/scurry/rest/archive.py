"""Keep what a job's endpoint would answer after the job is over, in the files that Flink's history server reads."""

from __future__ import annotations

import json
import os
from pathlib import Path

from scurry.rest.internal import answer
from scurry.rest.job import ServedJob

__all__ = ["ARCHIVE_KEY", "write_archive"]

#: Flink's key of the directory with one file for each job that is over.
ARCHIVE_KEY = "jobmanager.archive.fs.dir"

_PATHS = (
    "",
    "/plan",
    "/subtasks",
    "/config",
    "/exceptions",
    "/dead-letters",
    "/sql",
    "/log",
    "/accumulators",
    "/checkpoints",
    "/checkpoints/config",
)


def write_archive(job: ServedJob, directory: str) -> None:
    """Write the archive of a job that is over.

    Args:
        job: The job.
        directory: A directory of this machine, made if needed.

    Raises:
        OSError: It cannot be written to.
    """
    import asyncio

    from scurry.rest.app import application  # not earlier: importing FastAPI takes half a second

    served = application(job)
    paths = ["/jobs/overview", *(f"/jobs/{job.id}{path}" for path in _PATHS)]
    parts = [{"path": path, "json": asyncio.run(answer(served, path))[2].decode()} for path in paths]
    target = Path(directory.removeprefix("file://"))
    target.mkdir(mode=0o700, parents=True, exist_ok=True)
    staged = target / f".{job.id}.{os.getpid()}"
    staged.write_text(json.dumps({"archive": parts}), encoding="utf-8")
    staged.replace(target / job.id)
