"""Buckets without a store: addresses of `s3://` lead to a file system of pyarrow's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock


@contextmanager
def buckets(arrow: Any) -> Iterator[None]:
    """Let the addresses of `s3://` be paths of a file system while a `with` block runs."""
    from pyarrow import fs

    class Addresses:
        @staticmethod
        def from_uri(address: str) -> tuple[Any, str]:
            return arrow, address.removeprefix("s3://")

    for name in dir(fs):
        if name != "from_uri":
            setattr(Addresses, name, getattr(fs, name))
    with mock.patch.object(fs, "FileSystem", Addresses):
        yield


def directory(path: Path) -> Any:
    """Return the file system of a directory, whose entries are buckets."""
    from pyarrow import fs

    return fs.SubTreeFileSystem(str(path), fs.LocalFileSystem())
