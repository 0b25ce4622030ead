"""Every path of every endpoint, of jobs, sessions and the SQL gateway, refuses who may not see it."""

from __future__ import annotations

import http.client
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from fastapi import FastAPI

from scurry.rest.app import application as job_application
from scurry.rest.page import page_files
from scurry.rest.session.app import session_application
from scurry.rest.session.directory import SessionDirectory
from scurry.rest.session.endpoint import SessionEndpoint
from scurry.rest.session.session import SessionCluster
from scurry.rest.settings import RestSettings
from scurry.sql.gateway.app import application as gateway_application
from scurry.sql.gateway.sessions import Sessions
from support.gateway import serving
from support.rest.fake_jobs import TOKEN, FakeJob, served

#: Headers of requests -> the status that refuses them.
REFUSED = {
    "wrong token": ({"Authorization": "Bearer wrong"}, 401),
    "foreign host": ({"Authorization": f"Bearer {TOKEN}", "Host": "rebound.example:80"}, 403),
    "foreign origin": ({"Authorization": f"Bearer {TOKEN}", "Origin": "http://elsewhere.example"}, 403),
    "from another site": ({"Authorization": f"Bearer {TOKEN}", "Sec-Fetch-Site": "cross-site"}, 403),
    "page of another host": ({"Host": "rebound.example:80"}, 403),
}


def requests_of(app: FastAPI) -> list[tuple[str, str]]:
    """Method and path of everything that an application answers, with something in place of parameters."""
    paths = app.openapi()["paths"]
    return sorted((method.upper(), re.sub(r"{[^}]*}", "0" * 32, path)) for path, all in paths.items() for method in all)


def statuses(url: str, requests: list[tuple[str, str]], headers: dict[str, str]) -> dict[tuple[str, str], int]:
    """The statuses of requests with exactly these headers."""
    address = urlsplit(url)
    found = {}
    for method, path in requests:
        with closing(http.client.HTTPConnection(address.hostname or "", address.port, timeout=60)) as connection:
            connection.request(method, path, headers=headers)
            found[method, path] = connection.getresponse().status
    return found


@pytest.fixture(scope="module")
def endpoints(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[str, list[tuple[str, str]]]]]:
    """Kind -> URL of an endpoint and all that it answers."""
    home: Path = tmp_path_factory.mktemp("home")
    pages = [("GET", path) for path in page_files()]
    sessions = Sessions({"scurry.runner": "local"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(home))
        patch.setenv("XDG_STATE_HOME", str(home))
        session = SessionCluster("all-paths", SessionDirectory.named("all-paths"), {"scurry.runner": "local"})
        endpoint = SessionEndpoint(RestSettings("127.0.0.1", (0,), "127.0.0.1", TOKEN))
        session.open()
        endpoint.serve(session)
        with served(FakeJob()) as job, serving(sessions, TOKEN) as gateway:
            of_jobs = pages + requests_of(job_application(None))  # type: ignore[arg-type]
            yield {
                "job": (job.url, of_jobs),
                "session": (endpoint.url, of_jobs + requests_of(session_application(session, endpoint.close))),
                "gateway": (gateway.url, requests_of(gateway_application(sessions))),
            }
        endpoint.close()
        session.close(cancel=True)


@pytest.mark.parametrize("kind", ["job", "session", "gateway"])
@pytest.mark.parametrize("who", REFUSED)
def test_all_paths_refuse(who: str, kind: str, endpoints: dict[str, tuple[str, list[tuple[str, str]]]]) -> None:
    url, requests = endpoints[kind]
    headers, status = REFUSED[who]
    answered = statuses(url, requests, headers)
    assert {request: found for request, found in answered.items() if found != status} == {}
    assert len(answered) >= 20
