"""The log of a job as text, and as the file that tools of Flink look for."""

from __future__ import annotations

import logging

from scurry.rest.client import RemoteProcess
from support.rest.fake_jobs import FakeJob


def test_the_log_is_a_file_with_the_levels_of_flink(process: RemoteProcess, job: FakeJob) -> None:
    record = logging.LogRecord("scurry.job", logging.WARNING, "", 0, "held back by %s", ("orders",), None)
    record.created = 1_700_000_000.25
    job.execution.log.records.append(record)
    (file,) = process.request("GET", "/jobmanager/logs")["logs"]
    _, text = process.exchange("GET", f"/jobmanager/logs/{file['name']}")
    assert text.decode() == "2023-11-14 22:13:20,250 WARN scurry.job: held back by orders\n"
    assert (file["size"], file["mtime"]) == (len(text), 1_700_000_000_250)
    assert process.exchange("GET", "/jobmanager/log")[1] == text


def test_a_job_without_events_has_an_empty_file(process: RemoteProcess, job: FakeJob) -> None:
    (file,) = process.request("GET", "/jobmanager/logs")["logs"]
    assert file["size"] == 0 and process.exchange("GET", f"/jobmanager/logs/{file['name']}") == (200, b"")
