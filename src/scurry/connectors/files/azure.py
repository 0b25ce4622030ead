"""Containers of Azure Blob Storage and Data Lake Storage as file systems of pyarrow."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any
from urllib.parse import unquote, urlsplit

from scurry.connectors.files.storage_errors import without_credentials
from scurry.errors import UnsupportedError

#: Schemes of addresses, `scheme://container@account.dfs.core.windows.net/path`.
SCHEMES = ("abfs", "abfss", "wasb", "wasbs")
_ACCOUNT, _KEY, _TOKEN = "AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_SAS_TOKEN"
#: As delta-rs has them: whether Azurite is meant, and where it is.
_EMULATED, _EMULATOR = "AZURE_STORAGE_USE_EMULATOR", "AZURITE_BLOB_STORAGE_URL"
_AUTHORITY = ".blob.core.windows.net"
_EMULATOR_URL = "http://127.0.0.1:10000"
#: The account of emulators, whose key is public.
_EMULATOR_ACCOUNT = "devstoreaccount1"
_EMULATOR_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


#: Seconds for a connection to a store, before Azure's client tries for 7 s.
_CONNECT_SECONDS = 3.0


def azure_file_system(address: str) -> tuple[Any, str, Callable[[], None]]:
    """Return the file system of an address, the path within it, and a check that the store is there.

    The path begins with the container. The check raises an OSError.

    Credentials are in the environment: a key, a token of shared access, or what Azure's clients find.

    Raises:
        UnsupportedError: The address is none, or names no account, or pyarrow has no Azure.
    """
    try:
        from pyarrow.fs import AzureFileSystem
    except ImportError:
        raise UnsupportedError(
            f"{without_credentials(address)}: this pyarrow was built without Azure: take a newer one of PyPI"
        ) from None
    parts = urlsplit(address)
    container, _, host = parts.netloc.rpartition("@")
    if not container:
        container, host = host, ""
    account, _, domain = host.partition(".")
    account = account or os.environ.get(_ACCOUNT, "")
    emulated = os.environ.get(_EMULATED, "").lower() in ("1", "true", "yes")
    if not container or ":" in container or not (account or emulated):
        raise UnsupportedError(
            f"{without_credentials(address)} names no account: write "
            f"{parts.scheme}://container@account.dfs.core.windows.net/path, or set {_ACCOUNT}"
        )
    inner = f"{container}/{unquote(parts.path).strip('/')}".rstrip("/")
    if emulated:
        url = urlsplit(os.environ.get(_EMULATOR, _EMULATOR_URL))
        found = AzureFileSystem(account or _EMULATOR_ACCOUNT, **_of_emulator())
        return found, inner, partial(_connect, url.hostname or "127.0.0.1", url.port or 80)
    given: dict[str, str] = {}
    if (token := os.environ.get(_TOKEN)) is not None:
        given["sas_token"] = token
    elif (key := os.environ.get(_KEY)) is not None:
        given["account_key"] = key
    if domain:
        suffix = domain.removeprefix("dfs.").removeprefix("blob.")
        given |= {"blob_storage_authority": f".blob.{suffix}", "dfs_storage_authority": f".dfs.{suffix}"}
    host = f"{account}{given.get('blob_storage_authority', _AUTHORITY)}"
    return AzureFileSystem(account, **given), inner, partial(_connect, host, 443)


@lru_cache(maxsize=16)
def _connect(host: str, port: int) -> None:
    """Connect to a store, once in a process; a proxy does that for others.

    Raises:
        OSError: It does not answer.
    """
    from urllib.request import getproxies  # loads clients of HTTP and TLS

    if not getproxies().get("https"):
        socket.create_connection((host, port), _CONNECT_SECONDS).close()


def _of_emulator() -> dict[str, str]:
    url = urlsplit(os.environ.get(_EMULATOR, _EMULATOR_URL))
    return {
        "account_key": os.environ.get(_KEY, _EMULATOR_KEY),
        **{f"{kind}_storage_authority": url.netloc for kind in ("blob", "dfs")},
        **{f"{kind}_storage_scheme": url.scheme for kind in ("blob", "dfs")},
    }
