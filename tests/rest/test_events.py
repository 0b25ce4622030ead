"""Streams of changes."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote, urlsplit

from scurry.common import JobStatus
from scurry.rest.client import RemoteProcess
from scurry.rest.events import MOST_STREAMS
from support.rest.fake_jobs import TOKEN, FakeJob, served


@contextmanager
def stream(process: RemoteProcess, *paths: str) -> Iterator[http.client.HTTPResponse]:
    address = urlsplit(process.url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=120)
    query = "&".join(f"path={quote(path, safe='')}" for path in paths)
    connection.request("GET", f"/events?{query}", headers={"Authorization": f"Bearer {TOKEN}"})
    answer = connection.getresponse()
    try:
        yield answer
    finally:
        answer.close()
        connection.close()


def next_event(answer: http.client.HTTPResponse) -> dict[str, Any]:
    while line := answer.readline().decode():
        if line.startswith("data: "):
            event: dict[str, Any] = json.loads(line[6:])
            return event
    raise EOFError


def test_each_path_is_answered_at_once_and_again_when_its_answer_has_changed(
    process: RemoteProcess, job: FakeJob
) -> None:
    with stream(process, "/jobs", f"/jobs/{job.id}/accumulators", "/jobmanager/log") as answer:
        first = [next_event(answer) for _ in range(3)]
        assert [event["path"] for event in first] == ["/jobs", f"/jobs/{job.id}/accumulators", "/jobmanager/log"]
        assert first[0]["body"]["jobs"][0]["status"] == "RUNNING"
        assert first[2]["body"] == ""
        job.accumulators["seen"] = 7
        event = next_event(answer)
        assert event["path"] == f"/jobs/{job.id}/accumulators"
        assert event["body"]["user-task-accumulators"][0]["value"] == "7"


def test_a_refusal_is_an_event_too(process: RemoteProcess) -> None:
    with stream(process, "/jobs/" + "0" * 32) as answer:
        event = next_event(answer)
    assert (event["status"], event["body"]["errors"][0][:14]) == (404, "job 0000000000"[:14])


def test_the_last_event_is_the_end_of_the_job(job: FakeJob) -> None:
    with served(job) as process, stream(process, "/jobs") as answer:
        next_event(answer)
        job.end(JobStatus.FINISHED)
        assert next_event(answer)["body"]["jobs"][0]["status"] == "FINISHED"
        assert answer.read().strip() == b""


def test_a_stream_cannot_watch_streams_or_other_hosts(process: RemoteProcess) -> None:
    for path in ("/events?path=/jobs", "/v1/events?path=/jobs", "http://elsewhere.example/"):
        with stream(process, path) as answer:
            assert answer.status == 400


def test_streams_leave_connections_for_requests(process: RemoteProcess) -> None:
    from contextlib import ExitStack

    with ExitStack() as streams:
        for _ in range(MOST_STREAMS):
            next_event(streams.enter_context(stream(process, "/jobs")))
        with stream(process, "/jobs") as answer:
            assert answer.status == 503
        assert process.request("GET", "/jobs")["jobs"]
