"""Two versions of a program from one savepoint: both go on from the same state, and their outputs are compared.

Prints:

    ('ann', 5) the same
    ('bob', 1) the same
    ('ann', 30) 45 becomes 35
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from scurry.common import Configuration, Types
from scurry.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from scurry.datastream.state import ValueStateDescriptor


class Score(KeyedProcessFunction):
    def __init__(self, weight: Callable[[int], int]) -> None:
        self.weight = weight

    def open(self, runtime_context):
        self.score = runtime_context.get_state(ValueStateDescriptor("score", Types.LONG()))

    def process_element(self, play, ctx):
        self.score.update((self.score.value() or 0) + self.weight(play[1]))
        yield play[0], self.score.value()


def run(weight: Callable[[int], int], plays: list[tuple[str, int]], settings: dict[str, str]) -> list[tuple[str, int]]:
    configuration = Configuration()
    for key, value in settings.items():
        configuration.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    scores = env.from_collection(plays).key_by(lambda play: play[0]).process(Score(weight)).uid("score")
    with scores.execute_and_collect() as results:
        return list(results)


work = Path(tempfile.mkdtemp())
past = [("ann", 10), ("bob", 7)]
run(lambda points: points, past, {"execution.runtime-mode": "BATCH", "scurry.final-savepoint.dir": str(work)})
(savepoint,) = work.iterdir()

plays = [("ann", 5), ("bob", 1), ("ann", 30)]
start = {"execution.state-recovery.path": str(savepoint)}
old = run(lambda points: points, plays, start)
new = run(lambda points: min(points, 20), plays, start)
for play, before, after in zip(plays, old, new, strict=True):
    print(play, "the same" if before == after else f"{before[1]} becomes {after[1]}")
