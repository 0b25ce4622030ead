"""Lookup of operators and states of a savepoint by name, with hints for wrong names."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from scurry.errors import StateNotFoundError
from scurry.errors.suggestions import similar_name
from scurry.runtime.savepoint.format import OperatorState, SavepointMetadata
from scurry.runtime.state.expiry import Lifetime, lifetimes_in


def the_operator(metadata: SavepointMetadata, uid: str, path: str) -> OperatorState:
    """Return the operator with a uid.

    Raises:
        StateNotFoundError: No operator has the uid.
    """
    found = metadata.operators.get(uid)
    if found is None:
        raise no_operator(uid, metadata.operators, path)
    return found


def no_operator(uid: str, known: Collection[str], path: str) -> StateNotFoundError:
    return StateNotFoundError(f"savepoint {path} has no operator with uid {uid!r}{_hint(uid, known)}")


def no_state(uid: str, name: str, known: Collection[str]) -> StateNotFoundError:
    return StateNotFoundError(f"operator {uid!r} has no state {name!r}{_hint(name, known)}")


class StateNames:
    """The states that an operator's functions had registered when the savepoint was taken.

    Args:
        descriptors: Describe states for savepoints without schemas.
    """

    def __init__(self, uid: str, operator: OperatorState, descriptors: Iterable[Any] = ()) -> None:
        self._uid = uid
        #: without the schemas of broadcast state, keys and classes
        self._schemas: dict[str, Any] = {
            name: schema for name, schema in operator.states.items() if not name.startswith(("(", "broadcast:"))
        }
        self._known = bool(self._schemas)
        self.lifetimes = lifetimes_in(self._schemas)
        for descriptor in descriptors:
            if not self._known and descriptor.ttl_config is not None:
                self.lifetimes[descriptor.name] = Lifetime(descriptor.kind, descriptor.ttl_config.ttl_ms)
            self.require(descriptor.name)

    @property
    def are_known(self) -> bool:
        """True if the savepoint has schemas: otherwise only its entries say which states there are."""
        return self._known

    def __contains__(self, name: str) -> bool:
        return name in self._schemas

    def require(self, name: str) -> None:
        """Raise StateNotFoundError if the savepoint has schemas, but none for this state."""
        if self._known and name not in self._schemas:
            raise no_state(self._uid, name, self._schemas)


def _hint(name: str, known: Collection[str]) -> str:
    close = similar_name(name, known)
    did_you_mean = f"; did you mean {close!r}?" if close else "."
    return did_you_mean + (f" There are: {', '.join(map(repr, known))}" if known else " There are none")
