"""Plans on their way to workers, which are other processes."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import scurry

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(scurry.__file__).parents[1])}

PROGRAM = """
    import pickle, sys, threading
    from dataclasses import dataclass
    from scurry.datastream import MapFunction, StreamExecutionEnvironment
    from scurry.graph.shipping import ship

    @dataclass(frozen=True)
    class Point:
        x: int

    class Shift(MapFunction):
        def map(self, point):
            return Point(point.x + 1)

    class Unsendable:
        lock = threading.Lock()

    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection([1]).map(Shift()).print()
    with open(sys.argv[1], "wb") as file:
        pickle.dump([ship(env._plan("job")), pickle.dumps(Point(1))], file)
"""

WORKER = """
    import pickle, sys

    with open(sys.argv[1], "rb") as file:
        shipped, record = pickle.load(file)
    plan = pickle.loads(shipped)
    (function,) = [op.operator.function for op in plan.operators.values() if op.name == "Map"]
    result = pickle.loads(pickle.dumps(function.map(pickle.loads(record))))
    print(result, type(result) is type(pickle.loads(record)))
"""


def run(directory: Path, name: str, source: str) -> str:
    file = directory / name
    file.write_text(textwrap.dedent(source))
    command = [sys.executable, str(file), str(directory / "shipment")]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_records_of_classes_of_the_main_module_are_pickled_plainly_in_workers(tmp_path: Path) -> None:
    run(tmp_path, "program.py", PROGRAM)
    assert run(tmp_path, "worker.py", WORKER) == "Point(x=2) True\n"


def test_a_worker_that_stays_takes_the_classes_of_the_next_job(tmp_path: Path) -> None:
    run(tmp_path, "program.py", PROGRAM)
    first = (tmp_path / "shipment").read_bytes()
    run(tmp_path, "program.py", PROGRAM)
    (tmp_path / "first").write_bytes(first)
    earlier = 'import pickle\npickle.loads(pickle.load(open(__file__.replace("worker.py", "first"), "rb"))[0])\n'
    assert run(tmp_path, "worker.py", earlier + textwrap.dedent(WORKER)) == "Point(x=2) True\n"
