"""Errors of checkpoint directories."""

from __future__ import annotations

from scurry.errors.base import ScurryError


class CheckpointError(ScurryError):
    """A checkpoint directory that a job cannot use."""


class CheckpointCorruptedError(CheckpointError, RuntimeError):
    """Files of a checkpoint are damaged or missing, and no earlier micro-batch is left to resume from."""

    permanent = True


class CheckpointLockedError(CheckpointError, RuntimeError):
    """The checkpoint directory cannot be locked: another job uses it, or the lock file is not usable."""

    permanent = True


class CheckpointMismatchError(CheckpointError, ValueError):
    """The program cannot resume from the checkpoint directory."""

    permanent = True


class CheckpointStorageFullError(CheckpointError, OSError):
    """There is no space left for checkpoints. Nothing is lost: the job resumes if started again with free space."""
