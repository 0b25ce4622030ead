"""Sessions and operations have bounds."""

from __future__ import annotations

import socket

import pytest

from scurry.errors import ConfigError, GatewayError
from scurry.sql.gateway import sessions as module
from scurry.sql.gateway.serving import serve
from scurry.sql.gateway.sessions import Sessions

LOCAL = {"scurry.runner": "local", "execution.runtime-mode": "batch"}


def test_idle_sessions_are_closed() -> None:
    sessions = Sessions(LOCAL, idle_seconds=60)
    idle, used = sessions.open(), sessions.open()
    idle.used -= 61
    sessions.expire()
    with pytest.raises(GatewayError, match=f"Session '{idle.id}' does not exist"):
        sessions.get(idle.id)
    assert sessions.get(used.id) is used


def test_there_are_as_many_sessions_as_allowed() -> None:
    sessions = Sessions(LOCAL, most=1)
    first = sessions.open()
    with pytest.raises(GatewayError, match="exceeds the max count: 1"):
        sessions.open()
    sessions.close(first.id)
    sessions.open()


def test_old_operations_make_room_for_new_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_OPERATIONS", 2)
    session = Sessions(LOCAL).open()
    operations = [session.submit(f"SET 'table.a' = '{number}'") for number in range(2)]
    for operation in operations:
        operation.wait(10)
        while operation.fetch(0).next_token is None or not operation.is_settled:
            pass
    newest = session.submit("SET 'table.a' = '2'")
    assert session.operation(newest.id) is newest
    with pytest.raises(GatewayError, match="Can not find the submitted operation"):
        session.operation(operations[0].id)


def test_operations_that_are_not_over_are_never_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_OPERATIONS", 1)
    session = Sessions({**LOCAL, "execution.runtime-mode": "streaming"}).open()
    session.configure("CREATE TABLE g (id INT) WITH ('connector' = 'datagen', 'rows-per-second' = '1')")
    running = session.submit("SELECT id FROM g")
    running.wait(10)
    with pytest.raises(GatewayError, match="has 1 operations that are not over"):
        session.submit("SHOW TABLES")
    session.close()


@pytest.mark.parametrize("no_token", [True, False])
def test_other_machines_need_a_token(no_token: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SCURRY_REST_TOKEN", raising=False)
    with pytest.raises(ConfigError, match="lets other machines run statements as you"):
        serve({}, "0.0.0.0", 0, 1, 0, no_token=no_token)


def test_a_port_that_is_taken_is_named_with_the_option_that_chooses_another() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(ConfigError, match=rf"the gateway cannot listen on 127.0.0.1 port {port}: .*another --port"):
            serve({}, "127.0.0.1", port, 1, 0, no_token=True)
