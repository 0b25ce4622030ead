"""SocketSource: what a server sends, as lines, until it hangs up."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from scurry.common import Configuration
from scurry.connectors.socket import SocketSource
from scurry.connectors.source import Backlog, BatchLimits, Enumerator
from scurry.datastream import StreamExecutionEnvironment
from scurry.errors import RecordTooLargeError, SourceConnectionError


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(10)
        yield server


def enumerator_of(server: socket.socket, delimiter: str = "\n", max_records: int = 100) -> Enumerator:
    source = SocketSource("127.0.0.1", server.getsockname()[1], delimiter)
    return source.create_enumerator(2, BatchLimits(max_records=max_records))


def lines_until_closed(enumerator: Enumerator) -> list[list[str]]:
    batches, final, give_up = [], False, time.monotonic() + 120
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
    give_up = time.monotonic() + 120
    while enumerator.backlog() != Backlog(5) and time.monotonic() < give_up:
        time.sleep(0.01)
    filled = [batch for batch in lines_until_closed(enumerator) if batch]
    assert filled == [["1", "2"], ["3", "4"], ["5"]]


def test_the_server_waits_while_many_records_are_not_read(
    server: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scurry.connectors.socket.MOST_WAITING", 100)
    enumerator = enumerator_of(server, max_records=1000)
    enumerator.next_batch()
    connection, _ = server.accept()
    sender = threading.Thread(target=connection.sendall, args=(b"%999d\n" % 0 * 16_000,))
    sender.start()
    sender.join(0.2)  # long enough to send all of it to who takes everything
    backlog = enumerator.backlog()
    assert backlog is not None
    assert backlog.records is not None
    assert backlog.records < 200
    read = 0
    while read < 16_000:
        read += sum(len(each.work or []) for each in enumerator.next_batch())
    sender.join(10)
    connection.close()
    enumerator.close()
    assert not sender.is_alive()


def test_a_record_without_an_end_is_an_error_that_names_the_delimiter(server: socket.socket) -> None:
    source = SocketSource("127.0.0.1", server.getsockname()[1], "|")
    enumerator = source.create_enumerator(1, BatchLimits(max_record_bytes=1000))
    enumerator.next_batch()
    connection, _ = server.accept()
    connection.sendall(b"a|" + b"x" * 1001)
    with pytest.raises(RecordTooLargeError, match=r"more than 1,000 characters without the delimiter '\|'; set scurry"):
        for _ in range(1000):
            enumerator.next_batch()
            time.sleep(0.01)
    connection.close()
    enumerator.close()


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
