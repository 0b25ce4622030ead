"""A script that keeps instances of a dataclass of its own in state: RUNNER PLACE [SAVEPOINT].

Without a savepoint it is the first version, which is stopped with one and prints where it is. With one it is the
second, whose dataclass has more fields; it prints what it has in state in the end.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scurry.datastream import KeyedProcessFunction, RuntimeContext
from scurry.datastream.state import ValueStateDescriptor
from support.held_source import hold_at
from support.savepoints.sensor_program import environment, lines, readings, start

if len(sys.argv) < 4:

    @dataclass
    class Visits:
        name: str
        hits: int

else:

    @dataclass
    class Visits:  # type: ignore[no-redef]
        name: str
        hits: int
        level: str = "old"
        tags: list[str] = field(default_factory=lambda: ["added"])


class Count(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.visits = runtime_context.get_state(ValueStateDescriptor("visits"))

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Iterator[str]:
        visits = self.visits.value() or Visits(value[0], 0)
        visits.hits += 1
        self.visits.update(visits)
        yield f"running {visits}"


def main(runner: str, place: str, savepoint: str | None = None) -> None:
    settings = {} if savepoint is None else {"execution__state_recovery__path": savepoint}
    if savepoint is None:
        hold = Path(f"{place}-hold")
        hold_at(hold, 500)
        settings["pipeline__global_job_parameters"] = f"hold:{hold}"
    env = environment(runner, 1, execution__checkpointing__interval="100 ms", **settings)
    output = Path(place)
    stream = readings(env, records=1000)
    counted = stream.key_by(lambda value: value[0]).process(Count()).map(str).uid("text")
    client = start(env, output, counted)
    if savepoint is None:
        while not lines(output, kind="running"):
            time.sleep(0.02)
        print(client.stop_with_savepoint(False, f"{place}-savepoints").result())
    else:
        client.get_job_execution_result().result()
        print("\n".join(lines(output)))


if __name__ == "__main__":
    main(*sys.argv[1:])
