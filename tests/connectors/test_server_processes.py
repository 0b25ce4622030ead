"""Servers that tests start come back with their data."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
import redis

from support.servers.process import answers
from support.servers.redis import RedisServer

pytestmark = pytest.mark.servers


def test_a_server_that_is_killed_comes_back_at_its_port_with_its_data() -> None:
    with RedisServer() as server, redis.Redis(port=server.port) as client:
        client.set("key", "kept")
        server.kill()
        server.start()
        assert client.get("key") == b"kept"


START = """
from support.servers.mariadb import MariaDbServer
server = MariaDbServer()
server.start()
print(server.port, flush=True)
input()
"""


def test_a_server_that_runs_as_another_user_dies_with_the_tests() -> None:
    command = [sys.executable, "-c", START]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as tests:
        assert tests.stdout is not None and tests.stderr is not None
        port = tests.stdout.readline()
        if not port and "Unavailable" in (error := tests.stderr.read().decode()):
            pytest.skip(error.splitlines()[-1])
        assert answers(int(port))
        tests.kill()
    give_up = time.monotonic() + 60
    while answers(int(port)):
        assert time.monotonic() < give_up
        time.sleep(0.05)
