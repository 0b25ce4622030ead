"""Plans on their way to workers, which are other processes."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import scurry

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(scurry.__file__).parents[1])}

PROGRAM = """
    import pickle, sys, threading
    from dataclasses import dataclass
    from scurry.datastream import MapFunction, StreamExecutionEnvironment
    from scurry.graph.shipping import ship
    from scurry.testing import job_plan_of

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
        pickle.dump([ship(job_plan_of(env, "job")), pickle.dumps(Point(1))], file)
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


NEIGHBOUR_PROGRAM = """
    import sys
    sys.path.insert(0, "modules")
    import neighbour
    from scurry.datastream import StreamExecutionEnvironment
    from scurry.graph.shipping import ship
    from scurry.testing import job_plan_of

    env = StreamExecutionEnvironment.get_execution_environment()
    numbers = env.from_collection([1])
    numbers.map(neighbour.double).name("by name").print()
    numbers.map(lambda value: neighbour.double(value)).name("in a lambda").print()
    numbers.map(lambda value: value).name("without").print()
    with open(sys.argv[1], "wb") as file:
        file.write(ship(job_plan_of(env, "job")))
"""

NEIGHBOUR_WORKER = """
    import sys
    from scurry.errors import WorkerModuleError
    from scurry.graph.shipping import load_plan

    try:
        load_plan(open(sys.argv[1], "rb").read())
    except WorkerModuleError as error:
        print(error)
"""


def test_a_module_that_a_worker_lacks_is_named_with_the_operators_that_use_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "neighbour.py").write_text("def double(value):\n    return value * 2\n")
    monkeypatch.chdir(tmp_path)
    run(tmp_path, "program.py", NEIGHBOUR_PROGRAM)
    first, *operators, hint = run(tmp_path, "worker.py", NEIGHBOUR_WORKER).splitlines()
    assert first == "workers have no module named 'neighbour'"
    assert [line.partition(" built at ")[0] for line in operators] == [
        "  in operator 'by name'",
        "  in operator 'in a lambda'",
    ]
    assert "env.add_python_file('.../neighbour.py')" in hint
