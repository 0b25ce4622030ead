"""States and transitions of an automaton, and the names of its states."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

from scurry.errors import MalformedPatternError
from scurry.patterns.conditions import Expression

_DELIMITER = ":"


class StateType(Enum):
    """The kind of a state."""

    START = auto()
    NORMAL = auto()
    #: waits for the end of the window, to emit a match that no event of a last NOT stage has stopped
    PENDING = auto()
    #: an event of a NOT stage has stopped the partial match
    STOP = auto()
    FINAL = auto()


class Action(Enum):
    """The action of a transition on an event."""

    TAKE = auto()
    IGNORE = auto()
    #: the event is offered to the target
    PROCEED = auto()


@dataclass(eq=False)
class Transition:
    """A transition; `target` is None where Flink's compiler has none."""

    source: State
    action: Action
    target: State | None
    condition: Expression


@dataclass(eq=False, slots=True)
class State:
    """A state; its name is unique in its automaton.

    Attributes:
        tree: What becomes of a partial match in it (`decisions.py`), once that is known.
    """

    name: str
    type: StateType
    transitions: list[Transition] = field(default_factory=list)
    tree: Any = field(default=None, repr=False)

    def add(self, action: Action, target: State | None, condition: Expression) -> None:
        """Add a transition."""
        self.transitions.append(Transition(self, action, target, condition))


class StateNames:
    """The names that are in use."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def check_unique(self, name: str) -> None:
        """Note the name of a stage.

        Raises:
            MalformedPatternError: Another stage has it.
        """
        if name in self._used:
            raise MalformedPatternError(f"Duplicate pattern name: {name}. Names must be unique.")
        self._used.add(name)

    def unique(self, base: str) -> str:
        """Return a name for another state of a stage."""
        candidate, counter = base, 0
        while candidate in self._used:
            candidate = f"{base}{_DELIMITER}{counter}"
            counter += 1
        self._used.add(candidate)
        return candidate


def stage_of(state_name: str) -> str:
    """Return the stage of a state."""
    return state_name.split(_DELIMITER)[0]
