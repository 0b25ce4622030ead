"""SocketSource: what a server sends, as lines, until it hangs up."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator

import pytest

from scurry.common import Configuration
from scurry.connectors.socket import SocketSource
from scurry.connectors.source import Backlog, BatchLimits, Enumerator
from scurry.datastream import StreamExecutionEnvironment
from scurry.errors import SourceConnectionError


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(10)
        yield server


def enumerator_of(server: socket.socket, delimiter: str = "\n", max_records: int = 100) -> Enumerator:
    source = SocketSource("127.0.0.1", server.getsockname()[1], delimiter)
    return source.create_enumerator(2, BatchLimits(max_records=max_records))


def lines_until_closed(enumerator: Enumerator) -> list[list[str]]:
    batches, final, give_up = [], False, time.monotonic() + 10
    while not final and time.monotonic() < give_up:
        for assignment in enumerator.next_batch():
            batches.append(assignment.work or [])
            final = assignment.final
    enumerator.close()
    return batches


def lines_of(server: socket.socket, *sent: bytes, delimiter: str = "\n") -> list[str]:
    enumerator = enumerator_of(server, delimiter)
    assert enumerator.next_batch() == []
    connection, _ = server.accept()
    with connection:
        for part in sent:
            connection.sendall(part)
            time.sleep(0.02)
    return [line for batch in lines_until_closed(enumerator) for line in batch]


def test_every_line_is_a_record_and_the_end_of_the_connection_is_the_end(server: socket.socket) -> None:
    assert lines_of(server, b"to be\nor not\r\n", b"\nto be\n") == ["to be", "or not", "", "to be"]


def test_a_line_may_come_in_pieces_even_in_the_middle_of_a_character(server: socket.socket) -> None:
    assert lines_of(server, b"caf", b"\xc3", b"\xa9\nx", b"\n") == ["café", "x"]


def test_what_has_no_delimiter_at_the_end_is_a_record_too(server: socket.socket) -> None:
    assert lines_of(server, b"a\nb") == ["a", "b"]


def test_records_may_be_cut_at_any_text(server: socket.socket) -> None:
    assert lines_of(server, b"a|", b"|b\r\n||c", delimiter="||") == ["a", "b\r\n", "c"]


def test_a_batch_takes_no_more_records_than_allowed(server: socket.socket) -> None:
    enumerator = enumerator_of(server, max_records=2)
    enumerator.next_batch()
    connection, _ = server.accept()
    connection.sendall(b"1\n2\n3\n4\n5\n")
    connection.close()
    give_up = time.monotonic() + 10
    while enumerator.backlog() != Backlog(5) and time.monotonic() < give_up:
        time.sleep(0.01)
    filled = [batch for batch in lines_until_closed(enumerator) if batch]
    assert filled == [["1", "2"], ["3", "4"], ["5"]]


def test_a_source_that_had_ended_does_not_connect_again(server: socket.socket) -> None:
    enumerator = enumerator_of(server)
    enumerator.restore({"final": True})
    assert enumerator.next_batch() == []
    server.settimeout(0.05)
    with pytest.raises(TimeoutError):
        server.accept()


def test_no_server_is_an_error_that_names_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(SourceConnectionError, match=f"127.0.0.1:{port} failed"):
        SocketSource("127.0.0.1", port).create_enumerator(1, BatchLimits()).next_batch()


def test_a_stream_of_lines_ends_when_the_server_hangs_up(
    server: socket.socket, capfd: pytest.CaptureFixture[str]
) -> None:
    local = Configuration.from_dict({"scurry.runner": "local", "parallelism.default": "1"})
    env = StreamExecutionEnvironment.get_execution_environment(local)
    env.socket_text_stream("127.0.0.1", server.getsockname()[1]).map(str.upper).print()
    client = env.execute_async("lines")
    connection, _ = server.accept()
    with connection:
        connection.sendall(b"to be\nor not\n")
    client.get_job_execution_result().result()
    assert capfd.readouterr().out == "TO BE\nOR NOT\n"
