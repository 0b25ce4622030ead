"""Archive the REST answers of a job when it ends, in the files that Flink's history server reads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scurry.common._config.rest import ARCHIVE_DIR
from scurry.common._process.replaced_files import replace_file
from scurry.rest.internal import answer
from scurry.rest.job import ServedJob
from scurry.rest.plan_json import vertex_id, vertices

#: Flink's key of the directory with one file for each job that is over.
ARCHIVE_KEY = ARCHIVE_DIR.key

_PATHS = (
    "",
    *"/status /execution-result /jobmanager/config /jobmanager/environment /jobmanager/log-url /plan /subtasks".split(),
    *"/config /exceptions /dead-letters /history /sql /log /accumulators /checkpoints /checkpoints/config".split(),
)
#: Paths below that of a source or operator.
_OF_VERTICES = (
    "",
    "/subtasktimes",
    "/taskmanagers",
    "/accumulators",
    "/subtasks/accumulators",
    "/backpressure",
    "/watermarks",
    "/flamegraph",
)


def _vertex_ids(job: ServedJob) -> list[str]:
    return [vertex_id(part.uid) for part in vertices(job.plan)]


async def _answers(served: Any, paths: Sequence[str]) -> list[dict[str, str]]:
    return [{"path": path, "json": (await answer(served, path))[2].decode()} for path in paths]


def write_archive(job: ServedJob, directory: str) -> None:
    """Write the archive of a job that is over.

    Args:
        directory: A directory of this machine, made if needed.

    Raises:
        OSError: It cannot be written to.
    """
    import asyncio

    from scurry.rest.app import application  # not earlier: importing FastAPI takes half a second

    served = application(job)
    of_job = [*_PATHS, *(f"/vertices/{id}{path}" for id in _vertex_ids(job) for path in _OF_VERTICES)]
    paths = ["/jobs/overview", *(f"/jobs/{job.id}{path}" for path in of_job)]
    parts = asyncio.run(_answers(served, paths))
    target = Path(directory.removeprefix("file://"))
    target.mkdir(mode=0o700, parents=True, exist_ok=True)
    replace_file(target / job.id, json.dumps({"archive": parts}))
