"""Errors of checkpoint directories."""

from __future__ import annotations

from scurry.errors.base import ScurryError


class CheckpointError(ScurryError):
    """A checkpoint directory that a job cannot use.

    Cure: See the more specific classes below; docs/operations.md explains the directory.
    """


class CheckpointCorruptedError(CheckpointError, RuntimeError):
    """Files of a checkpoint are damaged or missing, and no earlier micro-batch is left to resume from.

    Cure: Start from a savepoint (`--from-savepoint`), or with another directory.
    """

    permanent = True


class DamagedRunError(CheckpointCorruptedError):
    """A file of state is missing or damaged; the job resumes from the newest micro-batch whose files are intact.

    Cure: None is needed, unless the disk is failing.
    """

    permanent = False


class CheckpointLockedError(CheckpointError, RuntimeError):
    """The checkpoint directory cannot be locked: another job uses it, or the lock file is not usable.

    Cure: Stop the job that the message names, or use another directory.
    """

    permanent = True


class CheckpointMismatchError(CheckpointError, ValueError):
    """The program cannot resume from the checkpoint directory.

    Cure: Take a savepoint with the old program and start the new one from it.
    """

    permanent = True


class CheckpointStorageFullError(CheckpointError, OSError):
    """There is no space left for checkpoints. Nothing is lost: the job resumes if started again with free space.

    Cure: Free space; the job goes on from its last checkpoint.
    """
