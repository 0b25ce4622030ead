"""A session hands requests on to the endpoints of jobs as clients sent them, whatever names are in them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scurry.common import Configuration
from scurry.rest.client import RemoteProcess
from scurry.rest.registry import registered_jobs
from scurry.rest.session.endpoint import SessionEndpoint
from scurry.rest.session.interface import SessionJob
from scurry.rest.settings import RestSettings
from support.cases import cases
from support.rest.fake_jobs import FakeJob


@pytest.fixture
def through(job: FakeJob, process: RemoteProcess) -> Iterator[RemoteProcess]:
    """A session of `job` alone."""
    own = RestSettings.of(Configuration.from_dict({"scurry.rest": "on"}), "local")
    assert own is not None
    one = SessionJob(str(job.id), "job.py", 1, None, None, None, process)
    session = SimpleNamespace(
        name="tests", started_ms=1, configuration={}, ui=None,
        jobs=lambda: [one], job=lambda job_id: one if job_id == one.id else None, archived=lambda job_id: None,
    )  # fmt: skip
    endpoint = SessionEndpoint(own, False)
    endpoint.serve(cast(Any, session))
    (entry,) = registered_jobs("sessions")
    try:
        yield RemoteProcess(entry.url, entry.token, timeout=120)
    finally:
        endpoint.close()


NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).filter(lambda name: "/" not in name)


@settings(deadline=None, max_examples=cases(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(operator=NAMES, key=st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_any_operator_state_and_key_can_be_asked_for(
    job: FakeJob, through: RemoteProcess, operator: str, key: str
) -> None:
    job.asked.clear()
    job.state = {key: 5}
    path = f"/jobs/{job.id}/state/{quote(operator, safe='')}/{quote(operator, safe='')}"
    found = through.request("GET", path, key=json.dumps(key, ensure_ascii=False) if key.isprintable() else key)
    assert job.asked[0][:3] == ("state", operator, operator)
    assert found["value"] in (5, None)


@pytest.mark.parametrize(
    "operator", ["my operator", "é", "a/b", "Source: a / b", "%", "%20", "a?b", "a#b", "+", "..", "日本"]
)
@pytest.mark.parametrize("version", ["", "/v1"])
def test_names_are_the_same_with_and_without_a_session(
    job: FakeJob, process: RemoteProcess, through: RemoteProcess, operator: str, version: str
) -> None:
    job.state = {"é +": 1}
    path = f"{version}/jobs/{job.id}/state/{quote(operator, safe='')}/count?key=%C3%A9%20%2B"
    direct, by_session = process.exchange("GET", path), through.exchange("GET", path)
    assert direct == by_session and direct[0] == 200
    assert job.asked == [("state", operator, "count", "é +")] * 2


def test_a_name_that_no_client_has_escaped_is_answered_at_once(job: FakeJob, through: RemoteProcess) -> None:
    for target in (
        "/state/a%00b/count?key=1",
        "/metrics?get=%F0%9F%90%BF,%zz",
        "/vertices/%20",
        "/%20%E9",
        "/a%0d%0ab",
    ):
        status, _ = through.exchange("GET", f"/jobs/{job.id}{target}")
        assert status < 500, target


@pytest.mark.parametrize("offset", ["9223372036854775808", "-9223372036854775808", "1" * 5000, "x"])
def test_a_position_in_the_output_that_cannot_be_is_refused(job: FakeJob, through: RemoteProcess, offset: str) -> None:
    status, _ = through.exchange("GET", f"/jobs/{job.id}/output?offset={offset}")
    assert status == 400
