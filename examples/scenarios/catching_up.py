"""Catching up after downtime: a job stops with a savepoint, data piles up, and the next start goes on from there.

Prints:

    before: ['ann 1', 'bob 1']
    after:  ['ann 2', 'ann 3', 'bob 2']
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from scurry.common import Configuration, Types
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.functions import KeyedProcessFunction
from scurry.datastream.state import ValueStateDescriptor


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, user, ctx):
        self.count.update((self.count.value() or 0) + 1)
        yield f"{user} {self.count.value()}"


def run(visits: list[str], **settings: str) -> list[str]:
    configuration = Configuration()
    for key, value in settings.items():
        configuration.set_string(key.replace("__", "-").replace("_", "."), value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    counts = env.from_collection(visits).key_by(lambda user: user).process(Count()).uid("count")
    with counts.execute_and_collect() as results:
        return list(results)


work = Path(tempfile.mkdtemp())
print("before:", run(["ann", "bob"], execution_runtime__mode="BATCH", scurry_final__savepoint_dir=str(work)))
(savepoint,) = work.iterdir()
print("after: ", run(["ann", "ann", "bob"], execution_state__recovery_path=str(savepoint)))
