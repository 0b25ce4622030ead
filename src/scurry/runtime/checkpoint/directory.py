"""Lock the checkpoint directory of a job from its first attempt to its end."""

from __future__ import annotations

import shutil
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scurry.common.config_options import ALLOW_UNTRUSTED
from scurry.errors import SavepointTrustError
from scurry.runtime.checkpoint.lock import locked
from scurry.runtime.checkpoint.storage import LocalStorage, Storage
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.savepoint.trust import require_trusted


def hold_directory(job: JobExecution, storage_for: Callable[[str], Storage]) -> str:
    """Lock and return the configured directory, or make a temporary one that is deleted when the job ends.

    Args:
        job: The job, whose cleanup releases the directory.
        storage_for: Returns the storage of a directory.

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

    job.cleanup.enter_context(locked(configured, storage, lost))
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
