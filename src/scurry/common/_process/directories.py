"""Provide directories for scurry's own files: caches, and files that matter only while a process runs."""

# platformdirs names directories as well, but does not look whether others can write to them.
from __future__ import annotations

import atexit
import os
import shutil
import stat
import tempfile
from functools import cache
from pathlib import Path


def cache_directory() -> Path:
    """Return scurry's cache directory, created if needed.

    It is ``$XDG_CACHE_HOME/scurry`` (``~/.cache/scurry`` when unset). If that cannot be written, as for a service user
    without a home, or if others can write to it, it is a private directory below the temporary directory.

    Returns:
        A directory that only this user can write to.

    Raises:
        PermissionError: Others can write to the directory below the temporary directory, too.
    """
    preferred = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "scurry"
    try:
        preferred.mkdir(mode=0o700, parents=True, exist_ok=True)
        return preferred if _is_private(preferred.resolve()) else _private_temporary_directory()
    except OSError:
        return _private_temporary_directory()


def runtime_directories() -> list[Path]:
    """Return the directories in which this user's processes find each other, the one to write to first.

    It is ``$XDG_RUNTIME_DIR/scurry`` (``/run/user/UID/scurry`` when unset), which is deleted when the machine restarts,
    else the cache directory. A process without a login session writes to another one than a shell, so readers must look
    in all of them. The session's directory is not created.

    Returns:
        One or two directories of this user.
    """
    session = Path(os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}")
    status = session.stat() if session.is_dir() and os.access(session, os.W_OK) else None
    usable = status is not None and status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return [*([session / "scurry"] if usable else []), cache_directory()]


@cache
def socket_directory() -> Path:
    """Return a private directory for the Unix sockets of this process, deleted when the process ends.

    Returns:
        The same directory at each call.
    """
    # the address of a socket has at most 107 bytes, and Spark's names take 43 of them
    short = len(os.fsencode(tempfile.gettempdir())) <= 48
    directory = Path(tempfile.mkdtemp(prefix="scurry-", dir=None if short else "/tmp"))
    process = os.getpid()

    def remove() -> None:
        if os.getpid() == process:  # not in a fork
            shutil.rmtree(directory, ignore_errors=True)

    atexit.register(remove)
    return directory


def _private_temporary_directory() -> Path:
    directory = Path(tempfile.gettempdir()) / f"scurry-{os.getuid()}"
    directory.mkdir(mode=0o700, exist_ok=True)
    if not _is_private(directory):
        raise PermissionError(
            f"{directory} belongs to another user, or others can write to it; set XDG_CACHE_HOME to a directory of "
            "your own"
        )
    return directory


def _is_private(directory: Path) -> bool:
    """Return whether only this user can have written here: a launcher that is found here is executed."""
    status = directory.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & stat.S_IWOTH:
        return False
    if status.st_mode & stat.S_IWGRP:  # made without a mode, under a umask that lets the group write
        directory.chmod(stat.S_IMODE(status.st_mode) & ~stat.S_IWGRP)
    return os.access(directory, os.W_OK)
