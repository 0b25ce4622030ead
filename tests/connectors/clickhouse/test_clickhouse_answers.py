"""Answers that a server of ClickHouse may give: cut short, with an error in their midst, or that it is too busy."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pyarrow as pa
import pytest

from scurry.connectors.clickhouse import client
from scurry.connectors.clickhouse.client import ClickHouse, ClickHouseTable, ServerRefusal
from scurry.connectors.clickhouse.names import literal, quoted, text_literal
from scurry.connectors.clickhouse.server import hosts_of
from scurry.connectors.clickhouse.sink import encoded
from scurry.connectors.sink import COUNTED
from scurry.errors import SinkConnectionError, SourceConnectionError, UnsupportedError

ROWS = pa.RecordBatch.from_arrays([pa.array([1, 2, 3])], names=["n"])
STREAM = encoded(ROWS)


class Answers(ThreadingHTTPServer):
    """Gives one answer after another: a status, a code of ClickHouse, parts of the content, and whether it ends."""

    daemon_threads = True

    def __init__(self) -> None:
        self.answers: list[tuple[int, str | None, list[bytes], bool]] = []
        super().__init__(("127.0.0.1", 0), _Handler)

    def client(self, kind: Any = SourceConnectionError) -> ClickHouse:
        return ClickHouse(ClickHouseTable(hosts_of(f"http://127.0.0.1:{self.server_port}", None, None), "d", "t"), kind)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Answers

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status, code, parts, ends = self.server.answers.pop(0)
        self.send_response(status)
        self.send_header("Transfer-Encoding", "chunked")
        if code is not None:
            self.send_header("X-ClickHouse-Exception-Code", code)
        self.end_headers()
        for part in parts:
            self.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
        if ends:
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.close_connection = True

    def log_message(self, format: str, *arguments: Any) -> None:
        return


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Answers]:
    monkeypatch.setattr(client, "_FIRST_PAUSE", 0.001)
    with Answers() as made:
        threading.Thread(target=made.serve_forever, args=(0.01,), daemon=True).start()
        yield made
        made.shutdown()


def test_rows_come_while_the_server_sends_them(server: Answers) -> None:
    server.answers = [(200, None, [STREAM[:100], STREAM[100:]], True)] * 2
    asked = server.client()
    for _ in range(2):  # on one connection
        assert [batch.num_rows for batch in asked.batches("SELECT n FROM t")] == [3]
    asked.close()


@pytest.mark.parametrize(
    ("parts", "ends"),
    [
        ([STREAM[: len(STREAM) // 2]], False),
        ([STREAM[: len(STREAM) // 2]], True),
        ([STREAM[:-8]], False),  # all rows, but not the mark of the end
        ([STREAM[:-8], b"Code: 241. DB::Exception: Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED)"], True),
    ],
)
def test_an_answer_that_is_cut_short_is_no_end(server: Answers, parts: list[bytes], ends: bool) -> None:
    server.answers = [(200, None, parts, ends)]
    with pytest.raises(SourceConnectionError, match=r"has not sent all rows of d\.t"):
        list(server.client().batches("SELECT n FROM t"))


def test_what_passes_is_tried_again(server: Answers) -> None:
    busy = (500, "252", [b"Code: 252. DB::Exception: Too many parts. (TOO_MANY_PARTS)"], True)
    server.answers = [busy, busy, busy, (200, None, [b"1\n"], True)]
    counted: list[tuple[str, int]] = []
    token = COUNTED.set(lambda metric, count: counted.append((metric, count)))
    try:
        assert server.client().execute("SELECT 1") == b"1\n"
    finally:
        COUNTED.reset(token)
    assert counted == [("numSendRetries", 1)] * 3
    server.answers = [busy] * 4
    with pytest.raises(SinkConnectionError, match=r"fails a statement about d\.t: Code: 252"):
        server.client(SinkConnectionError).insert(["n"], STREAM, "token")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((404, None, [b"<html>"], True), r"does not answer as ClickHouse \('url'\): HTTP 404 <html>"),
        ((403, "516", [b"Code: 516. DB::Exception: x"], True), r"wants a user \(HTTP 403\): check 'username'"),
        (
            (403, "497", [b"Code: 497. Not enough privileges"], True),
            r"the user \('username'\) may not do this with d\.t",
        ),
        ((404, "81", [b"Code: 81. no database"], True), r"has no database 'd' \('database-name'\)"),
        ((200, "159", [b"Code: 159. DB::Exception: Timeout"], True), "Timeout"),
    ],
)
def test_refusals_name_the_option(server: Answers, answer: Any, message: str) -> None:
    server.answers = [answer] * 4
    with pytest.raises(OSError, match=message):
        server.client().execute("SELECT 1")


def test_refused_values_are_told_apart(server: Answers) -> None:
    server.answers = [(500, "469", [b"Code: 469. DB::Exception: violated at row 2"], True)]
    with pytest.raises(ServerRefusal) as caught:
        server.client(SinkConnectionError).insert(["n"], STREAM, "token")
    assert (caught.value.code, caught.value.is_passing) == (469, False)


@pytest.mark.parametrize("text", ["plain", "it's", "a\\", "`", "\\'; DROP TABLE x"])
def test_texts_and_names_end_where_they_end(text: str) -> None:
    for made, mark in ((text_literal(text), "'"), (quoted(text), "`")):
        inner = made[1:-1].replace("\\\\", "").replace(f"\\{mark}", "")
        assert made[0] == made[-1] == mark and mark not in inner and not inner.endswith("\\")


def test_values_that_are_not_compared_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="not found by values of type list"):
        literal([1])
