"""Who may have written a savepoint or checkpoint: reading its entries runs code that its writer chose.

Entries are pickled, as state holds the user's own objects. So whoever can write a savepoint's files can run code in
the jobs and programs that read them; `metadata.json` is JSON and harmless.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from scurry.connectors.files.filesystem import local_path
from scurry.errors import SavepointTrustError


def require_trusted(path: str, allow_untrusted: bool = False, what: str = "savepoint") -> None:
    """Refuses a savepoint or checkpoint that somebody else could have written, as OpenSSH refuses such keys.

    Looked at are the owner and the mode of its directories and files, and whether the directories above can be written
    by others. Only local files are: who may write to an object store or HDFS is up to its access rights.

    Args:
        path: The savepoint; if there is none, whoever reads it will say so.
        allow_untrusted: Look at nothing: the user vouches for whoever can write there.
        what: What it is. A checkpoint has thousands of files and was made by this user: its directories tell enough.

    Raises:
        SavepointTrustError: Says whose file it is, and what to do.
    """
    root = local_path(path)
    if allow_untrusted or os.name != "posix" or root is None or not os.path.exists(root):
        return
    for found in _tree(root, files=what == "savepoint"):
        _check(f"{what} {path}", found, os.stat(found))
    above = os.path.dirname(os.path.realpath(root))
    while above != os.path.dirname(above):
        status = os.stat(above)
        if not status.st_mode & stat.S_ISVTX and _others_write(status):
            reason = f"others can put another directory in its place ({_mode(status)})"
            raise _refusal(f"{what} {path}", above, reason, "go-w")
        above = os.path.dirname(above)


def _tree(root: str, files: bool) -> Iterator[str]:
    yield root
    for directory, directories, names in os.walk(root):
        for name in (*directories, *names) if files else directories:
            yield os.path.join(directory, name)


def _check(place: str, found: str, status: os.stat_result) -> None:
    if status.st_uid not in (0, os.geteuid()):
        raise _refusal(place, found, f"it belongs to user {_user(status.st_uid)}", None)
    if _others_write(status):
        raise _refusal(place, found, f"others can write to it ({_mode(status)})", "go-w")


def _others_write(status: os.stat_result) -> bool:
    group_writes = status.st_mode & stat.S_IWGRP and not _own_group(status.st_gid)
    return bool(status.st_mode & stat.S_IWOTH or group_writes)


def _own_group(group: int) -> bool:
    """Whether it is the user's private group, which a umask of 002 lets write."""
    import grp
    import pwd

    try:
        user, members = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
    except KeyError:
        return False
    return user.pw_gid == group and members.gr_name == user.pw_name and set(members.gr_mem) <= {user.pw_name}


def _user(number: int) -> str:
    import pwd

    try:
        return repr(pwd.getpwuid(number).pw_name)
    except KeyError:
        return str(number)


def _mode(status: os.stat_result) -> str:
    return stat.filemode(status.st_mode)


def _refusal(place: str, found: str, reason: str, chmod: str | None) -> SavepointTrustError:
    remedy = f"chmod {chmod} {found}" if chmod else f"copy it, if you trust them: cp -r {place.partition(' ')[2]} ..."
    return SavepointTrustError(
        f"{place} is not read: {found}: {reason}. Whoever can write state can run code in what reads "
        f"it, since its entries are pickled. {remedy}; or read it all the same with allow_untrusted=True "
        "(jobs: scurry.savepoint.allow-untrusted)"
    )
