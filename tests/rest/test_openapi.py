"""Whatever is sent to an endpoint, it answers as its OpenAPI description says, and never fails itself."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from scurry.common import CompletableFuture
from scurry.rest.client import RemoteProcess
from support.cases import cases
from support.rest.fake_jobs import TOKEN, FakeJob, served

#: Requests per path and mode.
CASES = cases(25)

#: Query parameters that mean nothing are ignored, as everywhere; and a well-formed body may be one no job can fulfil.
NOT_PROMISED: list[Any] = [negative_data_rejection, positive_data_acceptance]

pytestmark = pytest.mark.slow

AUTHORIZED = {"Authorization": f"Bearer {TOKEN}"}


class Untiring(FakeJob):
    """A job that survives being cancelled, and has a value for every key."""

    def cancel(self) -> CompletableFuture[None]:
        return CompletableFuture.completed(None)

    def query_state(self, operator: str, name: str, key: Any) -> CompletableFuture[Any]:
        return CompletableFuture.completed({"key": key, "nan": float("nan")})


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RemoteProcess]:
    """The endpoint of such a job, whose savepoints have failed and whose rescaling has not."""
    job = Untiring(accumulators={"c": 2})
    job.metrics = {"a.b": 1}
    job.savepoint.set_exception(OSError("disk full"))
    rescaled: Future[None] = Future()
    rescaled.set_result(None)
    job.rescaled = rescaled
    with pytest.MonkeyPatch.context() as patch:
        directory: Path = tmp_path_factory.mktemp("run")
        patch.setenv("XDG_RUNTIME_DIR", str(directory))
        patch.setenv("XDG_CACHE_HOME", str(directory))
        with served(job) as process:
            yield process


def description_of(endpoint: RemoteProcess, job_id: dict[str, Any] | None = None) -> Any:
    """The endpoint's own description; with the only job id there is, what lies behind it is reached."""
    raw = endpoint.request("GET", "/openapi.json")
    for methods in raw["paths"].values():
        for operation in methods.values():
            for parameter in operation.get("parameters", ()):
                if parameter["name"] == "jobid" and job_id is not None:
                    parameter["schema"] = job_id
    description = schemathesis.openapi.from_dict(raw)
    description.config.update(base_url=endpoint.url)
    return description


@pytest.mark.parametrize("mode", GenerationMode)
def test_answers_are_as_described(mode: GenerationMode, endpoint: RemoteProcess) -> None:
    send_to_all_paths(description_of(endpoint), mode, CASES)


@pytest.mark.parametrize("mode", GenerationMode)
def test_answers_about_the_job_are_as_described(mode: GenerationMode, endpoint: RemoteProcess) -> None:
    job_id = endpoint.request("GET", "/jobs")["jobs"][0]["id"]
    send_to_all_paths(description_of(endpoint, {"type": "string", "enum": [job_id]}), mode, CASES)


def send_to_all_paths(description: Any, mode: GenerationMode, count: int) -> None:
    """Sends requests that keep to the description (POSITIVE), or break it in one place (NEGATIVE)."""
    for found in description.get_all_operations():
        operation = found.ok()

        @settings(max_examples=count)
        @given(operation.as_strategy(generation_mode=mode))
        def send(case: schemathesis.Case[Any]) -> None:
            case.call_and_validate(headers=AUTHORIZED, excluded_checks=NOT_PROMISED)

        try:
            send()
        except Unsatisfiable:
            assert not operation.query and not operation.path_parameters  # nothing in it to break


def test_the_description_wants_a_token_everywhere(endpoint: RemoteProcess) -> None:
    raw = endpoint.request("GET", "/openapi.json")
    operations = [operation for methods in raw["paths"].values() for operation in methods.values()]
    assert [one["summary"] for one in operations if one.get("security") != [{"HTTPBearer": []}]] == []
