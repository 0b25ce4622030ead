"""Check who may have written a savepoint or checkpoint, because reading its entries runs code chosen by its writer.

Entries are pickled, because state holds the user's own objects. So any user who can write a savepoint's files can run
code in the jobs and programs that read them; `metadata.json` and `manifest.json` are JSON and harmless.

A path is followed name by name, from the root of the file system, by descriptors. So the opened file is the one that
was checked, and no other user can make one of the names, including links, lead elsewhere.
"""

from __future__ import annotations

import errno
import os
import posixpath
import stat
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from scurry.connectors.files.filesystem import FileSystem, LocalFileSystem, file_system, local_path
from scurry.errors import SavepointTrustError

#: Looking up names in a directory requires fewer permissions than listing it.
_SEARCH = os.O_RDONLY if os.name != "posix" else os.O_DIRECTORY | getattr(os, "O_PATH", os.O_RDONLY)
_LIST = os.O_RDONLY if os.name != "posix" else os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW

#: Opening a pipe must not wait for a writer.
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)

#: As many links as Linux follows.
_MOST_LINKS = 40


@contextmanager
def trusted_files(
    path: str, allow_untrusted: bool = False, what: str = "savepoint"
) -> Iterator[tuple[FileSystem, str]]:
    """Yield a savepoint's file system and its path there, to read only files that no other user could have written.

    Only local files are checked: in an object store or HDFS, access rights decide who may write.

    Args:
        allow_untrusted: Check nothing: the user trusts all who can write there.
        what: The kind of directory, for errors.

    Raises:
        SavepointTrustError: Names the owner of the file or directory and a remedy; opening a file may raise it, too.
        FileNotFoundError: There is nothing at the path.
    """
    root = local_path(path)
    if os.name != "posix" or root is None:
        yield file_system(path)
        return
    if allow_untrusted:
        yield _RegularFiles(), root
        return
    place = f"{what} {path}"
    descriptor = _descend(place, root)
    try:
        yield _CheckedFiles(place, root, descriptor), root
    finally:
        os.close(descriptor)


def require_trusted(path: str, allow_untrusted: bool = False, what: str = "checkpoint") -> None:
    """Refuse a checkpoint that another user could have written, as OpenSSH refuses such keys.

    A checkpoint has thousands of files that this user made, so only its directories and those above are checked.

    Args:
        path: The directory; a missing one is not an error here.
        allow_untrusted: Check nothing: the user trusts all who can write there.
        what: The kind of directory, for errors.

    Raises:
        SavepointTrustError: Names the owner of the directory and a remedy.
    """
    root = local_path(path)
    if not allow_untrusted and os.name == "posix" and root is not None and os.path.exists(root):
        _require_directories(f"{what} {path}", root, set())


def _require_directories(place: str, root: str, seen: set[tuple[int, int]]) -> None:
    above = _descend(place, root)
    try:
        closed = not os.fstat(above).st_mode & (stat.S_IXGRP | stat.S_IXOTH)
        for directory, names, _, descriptor in os.fwalk(".", dir_fd=above):
            found = posixpath.normpath(posixpath.join(root, directory))
            status = os.fstat(descriptor)
            _check(place, found, status, closed)
            seen.add((status.st_dev, status.st_ino))
            for name in names:  # links to directories are not followed by themselves
                if stat.S_ISLNK(os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode):
                    inner = os.stat(name, dir_fd=descriptor)
                    if (inner.st_dev, inner.st_ino) not in seen:
                        _require_directories(place, posixpath.join(found, name), seen)
    finally:
        os.close(above)


class _RegularFiles(LocalFileSystem):
    """Read regular files only: pipes or devices might never end."""

    def open_input(self, path: str) -> BinaryIO:
        return _regular(os.open(path, _READ), path)


class _CheckedFiles(LocalFileSystem):
    """Read only files below a directory that belong to the user or root and that no other user can write.

    Args:
        place: The savepoint, for errors.
        root: Its path.
        descriptor: The directory, already checked.
    """

    def __init__(self, place: str, root: str, descriptor: int) -> None:
        self._place, self._root, self._descriptor = place, root, descriptor

    def open_input(self, path: str) -> BinaryIO:
        """Open for reading; links are refused."""
        parent, name = posixpath.split(path)
        with self._directory(parent) as directory:
            file = _regular(self._open(name, _READ | os.O_NOFOLLOW, directory, path), path)
        try:
            _check(self._place, path, os.fstat(file.fileno()))
        except BaseException:
            file.close()
            raise
        return file

    def entries(self, directory: str) -> list[tuple[str, bool]]:
        """Return names, and whether they are directories."""
        try:
            with self._directory(directory) as descriptor, os.scandir(descriptor) as entries:
                return [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
        except FileNotFoundError:
            return []

    @contextmanager
    def _directory(self, path: str) -> Iterator[int]:
        """Yield the descriptor of a directory below the root, after checking it and all directories in between."""
        descriptor = os.open(".", _LIST, dir_fd=self._descriptor)
        try:
            found = self._root
            for name in filter(None, posixpath.relpath(path, self._root).split("/")):
                found = posixpath.normpath(posixpath.join(found, name))
                inner = self._open(name, _LIST, descriptor, found)
                os.close(descriptor)
                descriptor = inner
                _check(self._place, found, os.fstat(descriptor))
            yield descriptor
        finally:
            os.close(descriptor)

    def _open(self, name: str, flags: int, directory: int, path: str) -> int:
        try:
            return os.open(name, flags, dir_fd=directory)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR) and os.path.islink(path):
                remedy = f"copy it, if you trust who has written it: cp -rL {self._root} ..."
                reason = "it is a link, and who can write what it leads to is not checked"
                raise _refusal(self._place, path, reason, remedy) from None
            raise


def _regular(descriptor: int, path: str) -> BinaryIO:
    """Return the regular file of a descriptor; close the descriptor if it is anything else."""
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    raise OSError(errno.EINVAL, "Not a regular file", path)


def _descend(place: str, path: str) -> int:
    """Open a directory by its path; no other user can make the path lead elsewhere.

    Check owner and mode of each directory on the way, including those that links lead through, and the owner of each
    link.
    """
    names, where, links = deque(path.split("/")), "/", 0
    descriptor = os.open("/", _SEARCH)
    try:
        while names:
            name = names.popleft()
            if name in ("", "."):
                continue
            _check_above(place, where, os.fstat(descriptor))
            found = posixpath.join(where, name)
            status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
            if not stat.S_ISLNK(status.st_mode):
                descriptor = _next(descriptor, name)
                where = posixpath.normpath(found)
                continue
            links += 1
            if links > _MOST_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
            if not _own(status):
                reason = f"this link belongs to user {_user(status.st_uid)}, who can let it lead elsewhere"
                raise _refusal(place, found, reason, _copy_of(place))
            target = os.readlink(name, dir_fd=descriptor)
            names.extendleft(reversed(target.split("/")))
            if target.startswith("/"):
                descriptor, where = _next(descriptor, "/"), "/"
        _check(place, where, os.fstat(descriptor))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _next(descriptor: int, name: str) -> int:
    """Open a directory inside another, and close the other."""
    inner = os.open(name, _SEARCH | os.O_NOFOLLOW, dir_fd=descriptor)
    os.close(descriptor)
    return inner


def _check_above(place: str, found: str, status: os.stat_result) -> None:
    if not _own(status):
        reason = f"it belongs to user {_user(status.st_uid)}, who can put another directory in the place of those in it"
        raise _refusal(place, found, reason, _copy_of(place))
    if not status.st_mode & stat.S_ISVTX and _others_write(status):
        reason = f"others can put another directory in its place ({_mode(status)})"
        raise _refusal(place, found, reason, f"chmod go-w {found}")


def _check(place: str, found: str, status: os.stat_result, closed: bool = False) -> None:
    """Refuse files that other users can write; below a directory that is closed to them, permissions do not matter."""
    if not _own(status):
        raise _refusal(place, found, f"it belongs to user {_user(status.st_uid)}", _copy_of(place))
    if not closed and _others_write(status):
        raise _refusal(place, found, f"others can write to it ({_mode(status)})", f"chmod go-w {found}")


def _own(status: os.stat_result) -> bool:
    return status.st_uid in (0, os.geteuid())


def _others_write(status: os.stat_result) -> bool:
    if sys.platform == "emscripten":  # a browser's files have one user, and all rights
        return False
    group_writes = status.st_mode & stat.S_IWGRP and not _own_group(status.st_gid)
    return bool(status.st_mode & stat.S_IWOTH or group_writes)


def _own_group(group: int) -> bool:
    """Return whether it is the user's private group, which may write with a umask of 002."""
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


def _copy_of(place: str) -> str:
    return f"copy it, if you trust them: cp -r {place.partition(' ')[2]} ..."


def _refusal(place: str, found: str, reason: str, remedy: str) -> SavepointTrustError:
    return SavepointTrustError(
        f"{place} is not read: {found}: {reason}. A user who can write state can run code in what reads "
        f"it, since its entries are pickled. {remedy}; or read it all the same with allow_untrusted=True "
        "(jobs: scurry.savepoint.allow-untrusted)"
    )
