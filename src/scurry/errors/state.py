"""Errors of state and timers, and of the checkpoints and savepoints that keep state."""

from __future__ import annotations

from scurry.errors.base import ScurryError


class StateError(ScurryError):
    """State cannot be accessed or restored.

    Cure: See the more specific classes below.
    """


class StateNotFoundError(StateError, KeyError):
    """A job or savepoint has no state of that name, or no such operator.

    Cure: Take one of the states that the message lists.
    """

    __str__ = Exception.__str__


class KeyedStateError(StateError, RuntimeError):
    """Keyed state or a timer was requested where there is no key.

    Cure: Call `key_by` before `process`.
    """

    permanent = True


class ReadOnlyStateError(StateError, AttributeError):
    """Broadcast state was written from the side that only reads it; PyFlink's read-only state has no such methods.

    Cure: Write broadcast state in `process_broadcast_element` only.
    """


class SnapshotMismatchError(StateError, ValueError):
    """A snapshot does not fit the pipeline.

    Cure: Take the snapshot from a harness of the same pipeline, or give the operators uids.
    """


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


class SavepointError(ScurryError, ValueError):
    """A savepoint cannot be taken, or a job cannot start from it.

    Cure: See the more specific classes below; docs/savepoints.md explains savepoints.
    """

    permanent = True


class SavepointNotFoundError(SavepointError, FileNotFoundError):
    """There is no savepoint at a path.

    Cure: Check the path; `scurry savepoint JOB` prints it.
    """

    __str__ = Exception.__str__


class SavepointFormatError(SavepointError):
    """The files of a savepoint are damaged, or of another version.

    Cure: Compare it with its manifest: `scurry savepoint inspect DIR`.
    """


class SavepointTrustError(SavepointError, PermissionError):
    """Other users can write the files of a savepoint, and could so run code in a process that reads it.

    Cure: Make the directory writable by you alone, or set `scurry.savepoint.allow-untrusted`.
    """

    __str__ = Exception.__str__


class StateNotRestoredError(SavepointError):
    """A savepoint contains state that no operator of the program uses.

    Cure: Give the operator its old uid, or drop the state with `--allow-non-restored-state`.
    """


class StateMismatchError(SavepointError):
    """A program cannot use the state of a savepoint or checkpoint.

    Cure: Keep the state's kind and name, or give the operator another uid.
    """


class StateMigrationError(StateMismatchError):
    """State written by an earlier program does not fit this one (Flink's `StateMigrationException`).

    The message names the operator, the state, both types and what to do. Nothing was changed.

    Cure: Write a migration, as the message says; docs/state-evolution.md shows how.
    """
