"""Handle requests about the process that answers, by the paths of Flink's JobManager: jobs and sessions share them."""

from __future__ import annotations

import platform
import resource
import sys
import threading
import traceback
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query

from scurry.common._pyflink.version import __version__ as pyflink_version
from scurry.common.redaction import without_secrets
from scurry.rest.routes.common import REFUSALS

router = APIRouter(responses=REFUSALS, tags=["process"])

_OVER = ("FINISHED", "CANCELED", "FAILED")


@router.get("/jobmanager/environment")
def environment() -> dict[str, Any]:
    """Return version and machine of this Python process; in Flink's fields, which are named for a JVM."""
    version = f"{platform.python_implementation()} {platform.python_version()}"
    return {"jvm": {"version": version, "arch": platform.machine(), "options": []}, "classpath": list(sys.path)}


@router.get("/jobmanager/metrics")
def process_metrics(get: Annotated[str | None, Query()] = None) -> list[dict[str, str]]:
    """Return the metrics of this process: all names, or the values of the requested ones."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    # Linux counts in KiB, macOS in bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    values: dict[str, float] = {
        "Status.Process.Memory.MaxResident": used.ru_maxrss * unit,
        "Status.Process.CPU.Time": int((used.ru_utime + used.ru_stime) * 1e9),
        "Status.Process.Threads.Count": threading.active_count(),
    }
    if get is None:
        return [{"id": name} for name in values]
    return [{"id": name, "value": str(values[name])} for name in get.split(",") if name in values]


@router.get("/jobmanager/thread-dump")
def thread_dump() -> dict[str, Any]:
    """Return the stack of every thread of this process."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    return {
        "threadInfos": [
            {
                "threadName": names.get(number, str(number)),
                "stringifiedThreadInfo": without_secrets(
                    f'"{names.get(number, number)}"\n' + "".join(traceback.format_stack(frame))
                ),
            }
            for number, frame in sys._current_frames().items()
        ]
    }


@router.get("/taskmanagers")
def task_managers() -> dict[str, Any]:
    """Return no task managers: the executors are Spark's."""
    return {"taskmanagers": [], "blockedTaskManagers": []}


@router.get("/datasets")
def datasets() -> dict[str, list[str]]:
    """Return no datasets: Spark keeps the data of `cache()`."""
    return {"dataSets": []}


@router.get("/taskmanagers/metrics")
def task_manager_metrics() -> list[dict[str, str]]:
    """Return no metrics: there are no task managers, the executors are Spark's."""
    return []


def overview_of(states: list[str]) -> dict[str, Any]:
    """Return how many jobs there are in each state, in Flink's message."""
    over = {state: states.count(state) for state in _OVER}
    return {
        "taskmanagers": 0,
        "taskmanagers-blocked": 0,
        "slots-total": 0,
        "slots-available": 0,
        "jobs-running": len(states) - sum(over.values()),
        "jobs-finished": over["FINISHED"],
        "jobs-cancelled": over["CANCELED"],
        "jobs-failed": over["FAILED"],
        "flink-version": pyflink_version,
        "flink-commit": "scurry",
    }


def applications_of(jobs: Iterable[Mapping[str, Any]], states: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the programs of jobs, in Flink's message: a program has one job, and its id.

    Args:
        jobs: The jobs, as in `/jobs/overview`.
        states: The states of programs that have ended, by id; that of its job without one.
    """
    applications = [{**_application(job, states or {}), "jobs": {job["state"]: 1}} for job in jobs]
    return {"applications": applications}


def application_details(job: Mapping[str, Any], states: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the program of a job, in Flink's message.

    Args:
        job: The job, as in `/jobs/overview`.
        states: The states of programs that have ended, by id; that of its job without one.
    """
    return {**_application(job, states or {}), "status-counts": {job["state"]: 1}, "jobs": [job]}


def _application(job: Mapping[str, Any], states: Mapping[str, str]) -> dict[str, Any]:
    status = states.get(job["jid"], job["state"])
    return {
        "id": job["jid"],
        "name": job["name"],
        "status": status,
        "start-time": job["start-time"],
        "end-time": job["end-time"],
        "duration": job["duration"],
    }
