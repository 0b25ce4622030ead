"""Errors of state and timers."""

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
