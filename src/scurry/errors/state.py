"""Errors of state and timers."""

from __future__ import annotations

from scurry.errors.base import ScurryError


class StateError(ScurryError):
    """State cannot be accessed or restored."""


class StateNotFoundError(StateError, KeyError):
    """A job or savepoint has no state of that name, or no such operator."""

    __str__ = Exception.__str__


class KeyedStateError(StateError, RuntimeError):
    """Keyed state or a timer was requested where there is no key."""

    permanent = True


class ReadOnlyStateError(StateError, AttributeError):
    """Broadcast state was written from the side that only reads it; PyFlink's read-only state has no such methods."""


class SnapshotMismatchError(StateError, ValueError):
    """A snapshot does not fit the pipeline."""
