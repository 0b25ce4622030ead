"""Object stores that are away, or do not let somebody in: one clear error, for files and lake tables alike."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from scurry.common import Encoder
from scurry.connectors.sink import WriterContext
from scurry.connectors.source import BatchLimits
from scurry.datastream.connectors.delta import DeltaSink, DeltaSource
from scurry.datastream.connectors.file_system import FileSink, FileSource, StreamFormat
from scurry.errors import StorageAccessError, StorageConnectionError, UnsupportedError
from scurry.table import DataTypes

ROW = DataTypes.ROW([DataTypes.FIELD("id", DataTypes.INT())])
SECRET = "open-sesame"


def read_files() -> None:
    FileSource.for_record_stream_format(StreamFormat.text_line_format(), "s3://bucket/in").build().create_enumerator(
        1, BatchLimits()
    )


def write_files() -> None:
    sink = FileSink.for_row_format("s3://bucket/out", Encoder.simple_string_encoder()).build()
    writer = sink.create_writer(WriterContext(0, 1, 0, "sink"))
    writer.write(["a"])
    writer.prepare_commit()


def read_a_table() -> None:
    DeltaSource.for_bounded_row_data("s3://bucket/table").build()


def write_a_table() -> None:
    DeltaSink.for_row_data("s3://bucket/table", ROW).build().create_committer("sink")


ALL = pytest.mark.parametrize("use", [read_files, write_files, read_a_table, write_a_table])


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Says where S3 is."""

    def at(address: str) -> None:
        for name, value in {
            "AWS_ENDPOINT_URL": address, "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "somebody", "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_MAX_ATTEMPTS": "1",
        }.items():  # fmt: skip
            monkeypatch.setenv(name, value)

    return at


class Refusing(BaseHTTPRequestHandler):
    """Answers as S3 does to a key it does not know."""

    BODY = b"<Error><Code>InvalidAccessKeyId</Code><Message>The key does not exist in our records.</Message></Error>"

    def do_GET(self) -> None:
        self.send_response(403)
        self.send_header("Content-Type", "application/xml")
        self.send_header("Content-Length", str(len(self.BODY)))
        self.end_headers()
        self.wfile.write(self.BODY)

    def do_HEAD(self) -> None:
        self.send_response(403)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_PUT = do_POST = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


@pytest.fixture
def refusing() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Refusing)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.slow
@ALL
def test_nobody_at_the_address(store: Callable[[str], None], use: Callable[[], None]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        free = listening.getsockname()[1]
    store(f"http://127.0.0.1:{free}")
    said = r"s3://bucket/\w+.* cannot be reached: .*Check the address"
    with pytest.raises(StorageConnectionError, match=said) as error:
        use()
    assert SECRET not in str(error.value)
    assert "\x1b" not in str(error.value)


@ALL
def test_wrong_credentials(store: Callable[[str], None], refusing: str, use: Callable[[], None]) -> None:
    store(refusing)
    said = r"s3://bucket/\w+.*: access is refused: .*AWS_ACCESS_KEY_ID"
    with pytest.raises(StorageAccessError, match=said) as error:
        use()
    assert SECRET not in str(error.value)


def test_credentials_in_an_address_are_not_shown() -> None:
    with pytest.raises(UnsupportedError) as error:
        FileSource.for_record_stream_format(StreamFormat.text_line_format(), f"hdfs://me:{SECRET}@nowhere/in").build()
    assert "hdfs://nowhere/in" in str(error.value)
    assert SECRET not in str(error.value)
