"""Where scurry keeps files of its own: what it can make again, and what only matters while a process runs."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def cache_directory() -> Path:
    """Return scurry's cache directory, made if need be.

    It is ``$XDG_CACHE_HOME/scurry`` (``~/.cache/scurry`` when unset). Where that cannot be written, as for a service
    user without a home, a directory of this user's own below the temporary directory serves.

    Returns:
        A directory this user can write to and that nobody else owns.

    Raises:
        PermissionError: If the directory below the temporary directory belongs to another user.
    """
    preferred = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "scurry"
    try:
        preferred.mkdir(parents=True, exist_ok=True)
    except OSError:
        return _private_temporary_directory()
    return preferred if os.access(preferred, os.W_OK) else _private_temporary_directory()


def runtime_directories() -> list[Path]:
    """Return where this user's processes leave word of each other, the directory to write to first.

    It is ``$XDG_RUNTIME_DIR/scurry`` (``/run/user/UID/scurry`` when unset), which is gone when the machine restarts,
    else the cache directory. A process that was started without a login session writes to another one than a shell
    does, hence the list: readers look in all of them. None of them is made.

    Returns:
        One or two directories of this user.
    """
    session = Path(os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}")
    usable = session.is_dir() and session.stat().st_uid == os.getuid() and os.access(session, os.W_OK)
    return [*([session / "scurry"] if usable else []), cache_directory()]


def _private_temporary_directory() -> Path:
    user = os.getuid()
    directory = Path(tempfile.gettempdir()) / f"scurry-{user}"
    directory.mkdir(mode=0o700, exist_ok=True)
    # A launcher found here is executed: a directory prepared by somebody else must not be trusted.
    if directory.is_symlink() or directory.stat().st_uid != user:
        raise PermissionError(f"{directory} belongs to another user; set XDG_CACHE_HOME to a directory of your own")
    return directory
