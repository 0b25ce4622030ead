"""Java's `PriorityQueue`, whose order of equal elements is visible: matches are emitted in it.

Elements are `Computation`s; the time and number of their first event are their priority.
"""

from __future__ import annotations

from scurry.patterns.automaton.state import Computation


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
    """Make a queue of a list."""
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
