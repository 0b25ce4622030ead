"""Small files that are replaced as a whole, such as registrations, records and definitions."""

from __future__ import annotations

import os
import uuid
from contextlib import suppress
from pathlib import Path


def replace_file(file: Path, content: str | bytes, *, private: bool = False, durable: bool = False) -> None:
    """Write a file in place of an earlier one: readers find one of both as a whole, also after a crash.

    Args:
        file: The file; its directory exists.
        private: Whether this user alone may read it.
        durable: Whether it is on the disk afterwards, so that it survives a crash of the machine.

    Raises:
        OSError: It cannot be written; the earlier one is as it was, unless the directory cannot be forced to the disk.
    """
    data = content.encode() if isinstance(content, str) else content
    staged = file.with_name(f".{file.name}.{uuid.uuid4().hex}")
    try:
        descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666)
        with open(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            if durable:
                os.fsync(stream.fileno())
        staged.replace(file)
        if durable:
            force_directory(file.parent)
    except BaseException:
        with suppress(OSError):
            staged.unlink()
        raise


def force_directory(directory: Path) -> None:
    """Let the names in a directory survive a crash of the machine."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
