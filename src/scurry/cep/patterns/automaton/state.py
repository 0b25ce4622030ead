"""The state of an automaton per key, and how it is stored in keyed state.

An event that a partial match takes becomes a **node**, which refers to the node before it. Partial matches that begin
alike share these nodes, so none of them is copied, and a node that no partial match needs is freed.

Flink's `SharedBuffer` stores edges between events and tells the matches apart by Dewey numbers of their edges; here the
reference to the last node says which match it is.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from scurry.cep.patterns.automaton.states import State


def offer(queue: list[Computation], item: Computation) -> None:
    """Add an element."""
    position = len(queue)
    queue.append(item)
    if not position:
        return
    time, number = item[0], item[1]
    while position:
        above = (position - 1) >> 1
        parent = queue[above]
        if time > parent[0] or time == parent[0] and number >= parent[1]:
            break
        queue[position] = parent
        position = above
    queue[position] = item


def poll(queue: list[Computation]) -> Computation:
    """Remove and return the first element."""
    last = queue.pop()
    if not queue:
        return last
    first = queue[0]
    _sift_down(queue, 0, last)
    return first


def heapify(queue: list[Computation]) -> None:
    for position in range((len(queue) >> 1) - 1, -1, -1):
        _sift_down(queue, position, queue[position])


def _sift_down(queue: list[Computation], position: int, item: Computation) -> None:
    count = len(queue)
    half = count >> 1
    while position < half:
        below = 2 * position + 1
        child = queue[below]
        if below + 1 < count and child[:2] > queue[below + 1][:2]:
            below += 1
            child = queue[below]
        if item[:2] <= child[:2]:
            break
        queue[position] = child
        position = below
    queue[position] = item


#: (node before or None, stage, time of the event, its number among those of the same time, event)
Node: TypeAlias = tuple[Any, str, int, int, Any]

#: A partial match: (time of its first event, number of that, state, last node or None, time of the last event). The
#: first two order them; those of the start, which has no event, are `LATEST`.
Computation: TypeAlias = tuple[int, int, State, Any, int]

LATEST = ((1 << 63) - 1, (1 << 31) - 1)

#: (partial matches, complete ones, nodes, events, time and number of the last event taken). Of a partial match: (state,
#: index of its last node, time of the last event) and, of its first event, time and number; None is the start. Of a
#: node: index of the one before or -1, stage, index of the event. Of an event: time, number, event.
StoredState: TypeAlias = tuple[list[Any], list[Any], list[Any], list[Any], tuple[int, int]]


class NFAState:
    """The state of an automaton for one key.

    Attributes:
        partial: The partial matches, a queue.
        completed: The complete matches that wait for others to end, a queue.
        counted: The time of the last event that was taken, and the number of the next one of the same time.
        new_start: Set when an event has begun a partial match whose time-out needs a timer.
    """

    __slots__ = ("completed", "counted", "new_start", "partial")

    def __init__(self, partial: list[Computation], completed: list[Computation], counted: tuple[int, int]) -> None:
        self.partial = partial
        self.completed = completed
        self.counted = counted
        self.new_start = False

    @property
    def is_initial(self) -> bool:
        """Return whether nothing has begun."""
        return len(self.partial) == 1 and not self.completed and self.partial[0][3] is None


def path(node: Node | None) -> list[Node]:
    """Return the nodes of a match, the first one first."""
    nodes: list[Node] = []
    while node is not None:
        nodes.append(node)
        node = node[0]
    nodes.reverse()
    return nodes


def stored(state: NFAState) -> StoredState:
    """Return the form of a state in which it is kept: plain lists, in which each event is once."""
    nodes: list[Any] = []
    events: list[Any] = []
    node_index: dict[int, int] = {}
    event_index: dict[tuple[int, int], int] = {}

    def index_of(node: Node | None) -> int:
        new = []
        while node is not None and id(node) not in node_index:
            new.append(node)
            node = node[0]
        index = -1 if node is None else node_index[id(node)]
        for each in reversed(new):
            _, stage, time, number, event = each
            event_at = event_index.setdefault((time, number), len(events))
            if event_at == len(events):
                events.append((time, number, event))
            nodes.append((index, stage, event_at))
            index = node_index[id(each)] = len(nodes) - 1
        return index

    def of(computation: Computation) -> Any:
        time, number, at, node, previous = computation
        return None if node is None else (at.name, index_of(node), previous, time, number)

    return [of(each) for each in state.partial], [of(each) for each in state.completed], nodes, events, state.counted


def restored(kept: StoredState, states: dict[str, State], start: Computation) -> NFAState:
    """Return the state that was kept.

    Raises:
        KeyError: It refers to a state that the automaton does not have.
    """
    partial, completed, stored_nodes, events, counted = kept
    nodes: list[Node] = []
    for before, stage, event_at in stored_nodes:
        nodes.append((None if before < 0 else nodes[before], stage, *events[event_at]))

    def of(computation: Any) -> Computation:
        if computation is None:
            return start
        name, index, previous, time, number = computation
        return time, number, states[name], nodes[index], previous

    return NFAState([of(each) for each in partial], [of(each) for each in completed], counted)
