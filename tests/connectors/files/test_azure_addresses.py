"""Addresses of Azure, without a server."""

from __future__ import annotations

import time
import urllib.request

import pytest

from scurry.connectors.files import azure
from scurry.connectors.files.filesystem import file_system
from scurry.connectors.source import BatchLimits
from scurry.datastream.connectors import FileSource, StreamFormat
from scurry.errors import StorageConnectionError, UnsupportedError


@pytest.mark.parametrize(
    ("address", "inner"),
    [
        ("abfss://lake@acct.dfs.core.windows.net/a/b", "lake/a/b"),
        ("abfs://lake@acct.dfs.core.windows.net", "lake"),
        ("wasbs://lake@acct.blob.core.windows.net/a/", "lake/a"),
        ("abfss://lake@acct.dfs.core.chinacloudapi.cn/a%20b", "lake/a b"),
    ],
)
def test_the_path_begins_with_the_container(address: str, inner: str) -> None:
    assert file_system(address)[1] == inner


def test_the_account_is_of_the_address_or_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnsupportedError, match="abfss://lake/a names no account: .* or set AZURE_STORAGE_ACCOUNT_NAME"):
        file_system("abfss://lake/a")
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "acct")
    assert file_system("abfss://lake/a")[1] == "lake/a"


def test_a_key_in_the_address_is_refused_and_not_shown() -> None:
    with pytest.raises(UnsupportedError, match="names no account") as error:
        file_system("abfss://acct:kzy7w@acct.dfs.core.windows.net/a")
    assert "zy7w" not in str(error.value)


def test_a_store_that_does_not_answer_is_named_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_STORAGE_USE_EMULATOR", "true")
    monkeypatch.setenv("AZURITE_BLOB_STORAGE_URL", "http://127.0.0.1:9")
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), "abfss://lake/a").build()
    begin = time.monotonic()
    with pytest.raises(StorageConnectionError, match="lake/a cannot be reached: .* refused.* for Azure the account"):
        source.create_enumerator(1, BatchLimits())
    assert time.monotonic() - begin < 5


def test_a_store_behind_a_proxy_is_not_asked_directly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(urllib.request, "getproxies", lambda: {"https": "http://proxy:3128"})
    azure._connect("127.0.0.1", 9)
