"""Errors of savepoints."""

from __future__ import annotations

from scurry.errors.base import ScurryError


class SavepointError(ScurryError, ValueError):
    """A savepoint cannot be taken, or a job cannot start from it."""

    permanent = True


class SavepointNotFoundError(SavepointError, FileNotFoundError):
    """There is no savepoint at a path."""

    __str__ = Exception.__str__


class SavepointFormatError(SavepointError):
    """The files of a savepoint are damaged, or of another version."""


class SavepointTrustError(SavepointError, PermissionError):
    """Other users can write the files of a savepoint, and could so run code in a process that reads it."""

    __str__ = Exception.__str__


class StateNotRestoredError(SavepointError):
    """A savepoint contains state that no operator of the program uses."""


class StateMismatchError(SavepointError):
    """A program cannot use the state of a savepoint or checkpoint."""


class StateMigrationError(StateMismatchError):
    """State written by an earlier program does not fit this one (Flink's `StateMigrationException`).

    The message names the operator, the state, both types and what to do. Nothing was changed.
    """
