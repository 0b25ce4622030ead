"""Errors of savepoints."""

from __future__ import annotations

from scurry.errors.base import ScurryError


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
