"""The slots of a key's entry, under which values, windows and timers are stored.

| slot | value |
|---|---|
| `EVENT`, `PROCESSING` | the timers of a time domain, a set of (time, namespace) |
| `PARTS` | by slot, how to find what is in parts of the key (`runtime/parts.py`); there as long as it has parts |
| a state's name | state of the key |
| `window_state(name, window)` | state of the key and a window: of a trigger or a process window function |
| `window_contents(window)` | contents of a window |
| `aligned_contents(start)` | contents of a window of `AlignedWindowOperator` |
| `SESSIONS` | the sessions of `SessionWindowOperator`: lists [start, end, contents, time of the timer], in time order |
| `MERGING` | the windows in flight, a list, if the assigner merges windows |
| `REDUCED` | the value of a rolling reduce |
| `PARTIAL_MATCHES` | of a pattern: partial matches and timers (`operators/cep`) |
| `partial_matches(id)` | the same, of one of the patterns of a `DynamicCepOperator` |
| `WAITING_EVENTS` | of a pattern: events that the watermark has not reached, a list of (time, value) |
| one of `JOINED` | the records of one side of an interval join, a list of (time, value) in time order |

Slots are pickled with the state: checkpoints and savepoints contain them. Loops over records build the tuples in place,
because a call would cost more than the tuple.
"""

from __future__ import annotations

from typing import Any

#: The time domains of timers.
EVENT = 0
PROCESSING = 1
DOMAINS = (EVENT, PROCESSING)

#: The directories of the parts of a key.
PARTS = 2
#: The namespace of the timer at which a key may have no parts any more.
PARTS_TIMER = ("parts",)

#: The name of window contents among an operator's states.
CONTENTS = "window-contents"
MERGING = (CONTENTS, "set")
SESSIONS = (CONTENTS, "sessions")
REDUCED = "reduce"
PARTIAL_MATCHES = "partial-matches"
WAITING_EVENTS = "waiting-events"
JOINED = ("interval-join-left", "interval-join-right")


def window_state(name: str, window: Any) -> tuple[str, Any]:
    return name, window


def window_contents(window: Any) -> tuple[str, Any]:
    """Return the slot of a window's contents."""
    return CONTENTS, window


def aligned_contents(start: int) -> tuple[int]:
    """Return the slot of an aligned window's contents; such windows only differ in their start."""
    return (start,)


def partial_matches(pattern: Any) -> tuple[str, Any]:
    """Return the slot of the partial matches of one of several patterns, by its id."""
    return PARTIAL_MATCHES, pattern


def is_window_state(slot: Any, name: str) -> bool:
    return type(slot) is tuple and len(slot) == 2 and slot[0] == name


def state_name(slot: Any) -> str | None:
    """Return the name of the state that a slot belongs to, None if it belongs to none."""
    if isinstance(slot, tuple):
        if slot == MERGING:
            return None
        return CONTENTS if len(slot) == 1 else slot[0]
    return slot if isinstance(slot, str) else None
