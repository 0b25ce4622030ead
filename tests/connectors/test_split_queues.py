"""The splits that wait for channels: how much is left is known without asking each split."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scurry.connectors.split_queues import SplitQueues

Split = list[int]


def size(split: Split) -> int:
    return split[0]


def sums(queues: SplitQueues[Split], channels: int) -> list[int]:
    position = queues.position(list)
    return [sum(map(size, position["pending"][channel])) for channel in range(channels)]


@given(st.lists(st.tuples(st.lists(st.integers(0, 9), max_size=5), st.integers(0, 2), st.integers(0, 9))))
def test_what_is_left_is_the_sum_of_the_splits_whatever_is_added_read_and_removed(
    steps: list[tuple[list[int], int, int]],
) -> None:
    queues: SplitQueues[Split] = SplitQueues(3, size)
    for sizes, channel, amount in steps:
        queues.add([each] for each in sizes)
        if queues.has(channel):
            first = queues.first(channel)
            read = min(amount, first[0])
            first[0] -= read
            queues.shrunk(channel, read)
            if not first[0]:
                queues.pop(channel)
        assert [queues.left(each) for each in range(3)] == sums(queues, 3)
        assert queues.total == sum(sums(queues, 3))
    for channels in (3, 2):
        restored: SplitQueues[Split] = SplitQueues(channels, size)
        restored.restore(queues.position(list), list)
        assert [restored.left(each) for each in range(channels)] == sums(restored, channels)


def test_splits_are_asked_for_their_size_when_they_come_and_go_only() -> None:
    asked = 0

    def counted(split: Split) -> int:
        nonlocal asked
        asked += 1
        return split[0]

    queues: SplitQueues[Split] = SplitQueues(2, counted)
    queues.add([1] for _ in range(1000))
    assert asked == 1000
    for _ in range(10):
        assert queues.total == 1000 - (asked - 1000)
        queues.pop(0)
    assert asked == 1010
