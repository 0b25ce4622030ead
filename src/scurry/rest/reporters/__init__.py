"""Metric reporters: they send the metrics of a job elsewhere while it runs, configured by Flink's keys."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from http.client import HTTPException
from typing import TYPE_CHECKING

from scurry.rest.job import ServedJob
from scurry.rest.reporters.contract import Reporter
from scurry.rest.reporters.settings import reporters_of

if TYPE_CHECKING:
    from scurry.runtime.driver.client import RunningJob

__all__ = ["Reporting"]

#: Nobody answers, or not in HTTP.
_NOT_SENT = (OSError, HTTPException)


class Reporting:
    """The reporters of a job.

    They are made before the job starts, so that a wrong setting cannot fail a running job; one that cannot send does
    not disturb the job, whose log says so once.

    Args:
        configuration: The settings of the job.

    Raises:
        ConfigError: A reporter cannot be made as configured.
    """

    def __init__(self, configuration: Mapping[str, str]) -> None:
        self._reporters: Sequence[Reporter] = reporters_of(configuration)

    def serve(self, client: RunningJob) -> None:
        """Report until a job is over, and once more then."""
        job = ServedJob(client, int(time.time() * 1000))
        over = threading.Event()
        client.get_job_execution_result().add_done_callback(lambda _: over.set())
        for reporter in self._reporters:
            arguments = (reporter, job, over)
            threading.Thread(target=_report, args=arguments, name=f"scurry-{reporter.name}", daemon=True).start()

    def close(self) -> None:
        """Close the reporters of a job that was not started."""
        for reporter in self._reporters:
            reporter.close()


def _report(reporter: Reporter, job: ServedJob, over: threading.Event) -> None:
    silent = False
    reporter.open(job)
    while True:
        last = over.wait(reporter.interval)
        try:
            reporter.report(job)
        except _NOT_SENT as error:
            if not silent:
                job.client.execution.log.note(f"metrics reporter {reporter.name!r} cannot send: {error}")
            silent = True
        if last:
            break
    try:
        reporter.close()
    except _NOT_SENT:  # reported before, or no longer relevant
        return
