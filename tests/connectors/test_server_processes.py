"""Servers that tests start come back with their data."""

from __future__ import annotations

import pytest
import redis

from support.servers.debian import Unavailable
from support.servers.redis import RedisServer

pytestmark = pytest.mark.servers


def test_a_server_that_is_killed_comes_back_at_its_port_with_its_data() -> None:
    try:
        server = RedisServer()
    except Unavailable as missing:
        pytest.skip(str(missing))
    with server, redis.Redis(port=server.port) as client:
        client.set("key", "kept")
        server.kill()
        server.start()
        assert client.get("key") == b"kept"
