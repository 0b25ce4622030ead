from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from scurry import dbapi
from scurry.sql.gateway.sessions import Sessions
from support.gateway import TOKEN, Gateway, serving

Connect = Callable[..., dbapi.Connection]


@pytest.fixture(scope="session")
def gateway() -> Iterator[Gateway]:
    with serving(Sessions({"scurry.runner": "local", "parallelism.default": "1"}), TOKEN) as served:
        yield served


@pytest.fixture(params=["embedded", "gateway"])
def connect(request: pytest.FixtureRequest) -> Iterator[Connect]:
    """Connections to this process and to a gateway, which behave alike."""
    opened: list[dbapi.Connection] = []
    url = "scurry://"
    if request.param == "gateway":
        address = request.getfixturevalue("gateway").url.removeprefix("http://")
        url = f"scurry://:{TOKEN}@{address}"

    def connected(**arguments: Any) -> dbapi.Connection:
        opened.append(dbapi.connect(url, **arguments))
        return opened[-1]

    yield connected
    for each in opened:
        each.close()


@pytest.fixture
def connection(connect: Connect) -> dbapi.Connection:
    return connect()
