"""Addresses of Google Cloud Storage, without a server."""

from __future__ import annotations

import time
from typing import Any

import pyarrow.fs
import pytest

from scurry.connectors.files.filesystem import file_system
from scurry.connectors.files.gcs import EMULATOR, RETRY_SECONDS, gcs_file_system
from scurry.connectors.source import BatchLimits
from scurry.datastream.connectors import FileSource, StreamFormat
from scurry.errors import StorageConnectionError, UnsupportedError


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The URIs that pyarrow is asked for."""
    found: list[str] = []

    def from_uri(uri: str) -> tuple[Any, str]:
        found.append(uri)
        return object(), "lake/a"

    monkeypatch.setattr(pyarrow.fs, "FileSystem", type("FileSystem", (), {"from_uri": staticmethod(from_uri)}))
    return found


@pytest.mark.parametrize(("address", "inner"), [("gs://lake/a/b", "lake/a/b"), ("gcs://lake/a%20b", "lake/a b")])
def test_the_path_begins_with_the_bucket(address: str, inner: str) -> None:
    assert file_system(address)[1] == inner


def test_requests_are_repeated_for_seconds_unless_the_address_says_more(asked: list[str]) -> None:
    gcs_file_system("gs://lake/a")
    gcs_file_system("gs://anonymous@lake/a?retry_limit_seconds=60")
    assert asked == [
        f"gs://lake/a?retry_limit_seconds={RETRY_SECONDS}",
        "gs://anonymous@lake/a?retry_limit_seconds=60",
    ]


@pytest.mark.parametrize("host", ["http://localhost:4443", "localhost:4443"])
def test_an_emulator_needs_no_user(asked: list[str], host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(EMULATOR, host)
    gcs_file_system("gs://lake/a")
    (uri,) = asked
    assert uri.startswith("gs://anonymous@lake/a?")
    assert "scheme=http" in uri and "endpoint_override=localhost%3A4443" in uri


def test_what_is_no_address_is_named() -> None:
    with pytest.raises(UnsupportedError, match="gs://lake/a"):
        file_system("gs://lake/a?colour=blue")


@pytest.mark.nightly
def test_a_store_that_does_not_answer_is_named_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(EMULATOR, "http://127.0.0.1:9")
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), "gs://lake/a").build()
    begin = time.monotonic()
    with pytest.raises(StorageConnectionError, match="gcs://lake/a cannot be reached"):
        source.create_enumerator(1, BatchLimits())
    assert time.monotonic() - begin < 6
