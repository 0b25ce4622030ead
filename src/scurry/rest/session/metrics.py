"""Answer Prometheus: the metrics of all running jobs of a session in one text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse

from scurry.errors import ScurryError
from scurry.rest.client import RemoteProcess
from scurry.rest.session.interface import OperableSession

router = APIRouter()
_pool = ThreadPoolExecutor(16, "scurry-session-metrics")
#: Seconds that a job has to answer; Prometheus itself waits for 10.
_SECONDS = 5.0
_TYPE = "# TYPE "


@router.get("/metrics", response_class=PlainTextResponse)
def prometheus(request: Request) -> PlainTextResponse:
    """Return the metrics of all running jobs in the text format of Prometheus, and how many these are."""
    session: OperableSession = request.app.state.session
    running = [job.process for job in session.jobs() if job.state is None and job.process is not None]
    texts = [text for text in _pool.map(_metrics_of, running) if text is not None]
    own = f"{_TYPE}flink_jobmanager_numRunningJobs gauge\nflink_jobmanager_numRunningJobs {len(running)}\n"
    return PlainTextResponse(merged([own, *texts]), media_type="text/plain; version=0.0.4; charset=utf-8")


def _metrics_of(process: RemoteProcess) -> str | None:
    try:
        status, content = replace(process, timeout=_SECONDS).exchange("GET", "/metrics")
    except ScurryError:  # it has just ended
        return None
    return content.decode() if status == 200 else None


def merged(texts: Iterable[str]) -> str:
    """Return several answers to Prometheus as one, in which the samples of a metric are together, as it wants them.

    Args:
        texts: The answers, in which a line with the type of a metric precedes its samples.
    """
    samples: dict[str, list[str]] = {}
    for text in texts:
        for line in text.splitlines(keepends=True):
            if line.startswith(_TYPE):
                metric = samples.setdefault(line, [])
            else:
                metric.append(line)
    return "".join(_lines(samples))


def _lines(samples: dict[str, list[str]]) -> Iterator[str]:
    for kind, lines in sorted(samples.items()):
        yield kind
        yield from lines
