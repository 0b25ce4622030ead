"""Lock the checkpoint directory of a job from its first attempt to its end."""

from __future__ import annotations

import errno
import json
import os
import shutil
import socket
import stat
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from scurry._dataclasses import dataclass
from scurry.common._process.file_locks import lock as lock_file
from scurry.common.config_options import ALLOW_UNTRUSTED
from scurry.errors import CheckpointLockedError, SavepointTrustError
from scurry.runtime.checkpoint.identity import own_directory
from scurry.runtime.checkpoint.storage import LocalStorage, Storage, reporting_full
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.savepoint.trust import require_trusted

#: Seconds between two renewals of a lease.
RENEWAL = 10.0
#: Seconds after which a lease that was not renewed has expired; clocks may differ by at most `EXPIRY - RENEWAL`.
EXPIRY = 60.0

_LOCK = ".lock"
_LEASE = "lease.json"


@dataclass(frozen=True)
class Holder:
    """The process that holds a directory."""

    # looked up when they are called: simulations replace them
    host: str = field(default_factory=lambda: socket.gethostname())
    pid: int = field(default_factory=lambda: os.getpid())
    since: float = field(default_factory=lambda: time.time())
    #: the owner of a lease, and when it was last renewed
    owner: str = field(default_factory=lambda: uuid.uuid4().hex)
    renewed: float = field(default_factory=lambda: time.time())

    def to_json(self) -> bytes:
        """Return the content of the lock or lease file."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def read(cls, content: bytes) -> Holder | None:
        """Return the holder that a file names; None if the file is empty, incomplete or something else."""
        try:
            return cls(**json.loads(content))
        except (ValueError, TypeError):
            return None


def _locked(directory: str, holder: Holder | None, hint: str = "") -> CheckpointLockedError:
    who = "another job"
    own = holder is not None and holder.pid == os.getpid() and holder.host == socket.gethostname()
    if holder is not None:
        since = datetime.fromtimestamp(holder.since, UTC).isoformat(sep=" ", timespec="seconds")
        who = f"process {holder.pid} on host {holder.host}, since {since}"
    refused = CheckpointLockedError(
        f"the checkpoint directory {directory} is in use by {who}{' (another job of this program)' if own else ''}; "
        f"stop that job first, or give this one another execution.checkpointing.dir{hint}"
    )
    return refused.with_hint(own_directory(directory)) if own else refused


def locked(directory: str, storage: Storage, lost: Callable[[str], None]) -> AbstractContextManager[Callable[[], None]]:
    """Hold a directory while a `with` block runs, which gets a function that raises unless it is still held.

    Args:
        directory: The directory, as the user names it.
        storage: The storage of the same directory.
        lost: Called with the reason, from another thread, if another process has taken the directory over.

    Raises:
        CheckpointLockedError: Another process holds it; the message names its host and pid.
    """
    if isinstance(storage, LocalStorage):
        return _file_lock(directory, storage.root)
    return _lease(directory, storage, lost)


@contextmanager
def _file_lock(directory: str, root: Path) -> Iterator[Callable[[], None]]:
    with _open_lock(root / _LOCK) as file:
        try:
            lock_file(file, wait=False)
        except BlockingIOError:
            raise _locked(directory, Holder.read(file.read())) from None
        _require_own(root / _LOCK, file)
        # The file is never deleted: another process may have locked it by then.
        with reporting_full(directory):
            file.seek(0)
            file.truncate()
            file.write(Holder().to_json())
            file.flush()
        yield lambda: None  # nobody else gets it before this process ends


def _open_lock(path: Path) -> BinaryIO:
    """Open or create the lock file without following links."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EISDIR):
            raise _no_lock(path, "is a link or a directory") from None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _no_lock(path, "is no file")
    return open(descriptor, "r+b")


def _require_own(path: Path, file: BinaryIO) -> None:
    """Refuse a file that no job has written, because the lock overwrites it."""
    status, content = os.fstat(file.fileno()), file.read()
    if status.st_uid not in (os.geteuid(), os.stat(path.parent).st_uid):
        raise _no_lock(path, f"belongs to user {status.st_uid}")
    unfinished = status.st_nlink == 1 and content.startswith(b"{")
    if content and not unfinished and Holder.read(content) is None:
        raise _no_lock(path, "holds something else")


def _no_lock(path: Path, reason: str) -> CheckpointLockedError:
    return CheckpointLockedError(
        f"{path} {reason}, so it is not the lock of a job and is left alone; delete it, or give the job another "
        "execution.checkpointing.dir"
    )


class _Lease:
    """A lease that this process has written; it is renewed by a thread, and by who needs it after a silence."""

    def __init__(self, directory: str, storage: Storage) -> None:
        self.mine = Holder()
        self._directory, self._storage, self._lock = directory, storage, threading.Lock()
        self._write(self.mine)

    def _write(self, holder: Holder) -> None:
        now = time.monotonic()  # from before: it may take long
        self._storage.write(_LEASE, holder.to_json())
        self._renewed = now

    def renew(self) -> Holder | None:
        """Renew the lease; return who has taken it, if somebody has."""
        with self._lock:
            present = _holder(self._storage)
            if present is not None and present.owner != self.mine.owner:
                return present
            self._write(replace(self.mine, renewed=time.time()))
            return None

    def require(self) -> None:
        """Look whether the lease is still held, if it might have expired: the process or its storage was silent.

        Raises:
            CheckpointLockedError: Another process has taken it.
        """
        if time.monotonic() - self._renewed >= EXPIRY / 2:
            other = self.renew()
            if other is not None:
                raise _locked(self._directory, other)


@contextmanager
def _lease(directory: str, storage: Storage, lost: Callable[[str], None]) -> Iterator[Callable[[], None]]:
    present = _holder(storage)
    if present is not None and not _abandoned(present):
        silent = max(time.time() - present.renewed, 0)
        hint = (
            f". It gave its last sign of life {silent:.0f} s ago: if it is dead, try again in {EXPIRY - silent:.0f} s"
        )
        raise _locked(directory, present, hint)
    lease = _Lease(directory, storage)
    written = _holder(storage)
    if written is None or written.owner != lease.mine.owner:  # another job wrote its lease at the same moment
        raise _locked(directory, written)
    over = threading.Event()
    arguments = (directory, lease, over, lost)
    renewing = threading.Thread(target=_renew, args=arguments, name="scurry-lease", daemon=True)
    renewing.start()
    try:
        yield lease.require
    finally:
        over.set()
        renewing.join()
        last = _holder(storage)
        if last is not None and last.owner == lease.mine.owner:
            storage.delete(_LEASE)


def _renew(directory: str, lease: _Lease, over: threading.Event, lost: Callable[[str], None]) -> None:
    while not over.wait(RENEWAL):
        try:
            other = lease.renew()
        except Exception:  # storage may be unavailable for a moment; the lease lasts for several renewals
            continue
        if other is not None:
            lost(f"{directory} was taken over by process {other.pid} on host {other.host}")
            return


def _holder(storage: Storage) -> Holder | None:
    return Holder.read(storage.read(_LEASE)) if _LEASE in storage.list(".") else None


def _abandoned(holder: Holder) -> bool:
    """Return whether the holder of a lease is gone."""
    if time.time() - holder.renewed > EXPIRY:
        return True
    if holder.host != socket.gethostname() or holder.pid == os.getpid():
        return False
    try:
        os.kill(holder.pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def hold_directory(job: JobExecution, storage_for: Callable[[str], Storage]) -> str:
    """Lock and return the configured directory, or make a temporary one that is deleted when the job ends.

    Args:
        job: The job, whose cleanup releases the directory.

    Raises:
        SavepointTrustError: Other users can write to the configured directory; nothing in it was touched.
        CheckpointLockedError: Another process uses it.
    """
    configured = job.plan.settings.checkpoint_dir
    if configured is None:
        temporary = tempfile.mkdtemp(prefix="scurry-checkpoint-")
        job.cleanup.callback(shutil.rmtree, temporary, ignore_errors=True)
        return temporary
    storage = storage_for(configured)
    allowed = ALLOW_UNTRUSTED.parse(job.plan.settings.configuration.get(ALLOW_UNTRUSTED.key, "false"))
    made = _make(storage.root, allowed) if isinstance(storage, LocalStorage) else False
    try:
        require_trusted(configured, allowed)
    except SavepointTrustError:
        if made and isinstance(storage, LocalStorage):
            storage.root.rmdir()
        raise

    def lost(what: str) -> None:
        job.log.note(f"stopping: {what}")
        job.stopping.set()

    def delete_if_cancelled(kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if error is None and job.cancelled:
            for name in storage.list("."):
                storage.delete(name)

    job.require_directory = job.cleanup.enter_context(locked(configured, storage, lost))
    job.protocol.hold(configured)
    if job.plan.settings.delete_on_cancel:
        job.cleanup.push(delete_if_cancelled)
    return configured


def _make(root: Path, shared: bool) -> bool:
    """Make a directory if it does not exist; return whether it was made."""
    if root.exists():
        return False
    root.mkdir(parents=True)
    if not shared and root.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        # The umask lets others write to it and to the files that Spark writes in it: keep them out.
        root.chmod(0o700)
    return True
