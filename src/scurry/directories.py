"""Where scurry keeps files of its own: what it can make again, and what only matters while a process runs."""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import tempfile
from functools import cache
from pathlib import Path


def cache_directory() -> Path:
    """Return scurry's cache directory, made if need be.

    It is ``$XDG_CACHE_HOME/scurry`` (``~/.cache/scurry`` when unset). Where that cannot be written, as for a service
    user without a home, or others can write to it, a directory of this user's own below the temporary directory serves.

    Returns:
        A directory that this user, and nobody else, can write to.

    Raises:
        PermissionError: If others can write to the directory below the temporary directory, too.
    """
    preferred = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "scurry"
    try:
        preferred.mkdir(mode=0o700, parents=True, exist_ok=True)
        return preferred if _is_private(preferred.resolve()) else _private_temporary_directory()
    except OSError:
        return _private_temporary_directory()


def runtime_directories() -> list[Path]:
    """Return where this user's processes leave word of each other, the directory to write to first.

    It is ``$XDG_RUNTIME_DIR/scurry`` (``/run/user/UID/scurry`` when unset), which is gone when the machine restarts,
    else the cache directory. A process that was started without a login session writes to another one than a shell
    does, hence the list: readers look in all of them. None of them is made.

    Returns:
        One or two directories of this user.
    """
    session = Path(os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}")
    status = session.stat() if session.is_dir() and os.access(session, os.W_OK) else None
    usable = status is not None and status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return [*([session / "scurry"] if usable else []), cache_directory()]


@cache
def socket_directory() -> Path:
    """Return a directory for the Unix sockets of this process; others cannot get there, and it goes with the process.

    Returns:
        The same directory at each call.
    """
    directory = Path(tempfile.mkdtemp(prefix="scurry-"))
    process = os.getpid()

    def remove() -> None:
        if os.getpid() == process:  # and not a fork of it
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
    """Whether only this user can have put something here: a launcher that is found here is executed."""
    status = directory.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & stat.S_IWOTH:
        return False
    if status.st_mode & stat.S_IWGRP:  # made before this was looked at, with a umask that lets the group write
        directory.chmod(stat.S_IMODE(status.st_mode) & ~stat.S_IWGRP)
    return os.access(directory, os.W_OK)
