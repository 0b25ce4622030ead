"""Records what real Flink prints: PYFLINK_PYTHON=.../bin/python python tests/oracle/record.py [--all] [AREA/NAME ...]

Every program runs at each of its parallelisms (one that has a single parallelism runs twice) in this one process. Its
recording is written only if all runs succeed and agree; otherwise the program is reported and an existing recording
stays. Without names and without --all, programs are recorded that have no recording.
"""

from __future__ import annotations

import argparse
import fnmatch
import os
import re
import runpy
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from recordings import Program, cleaned, programs


def main() -> int:
    """Record what was asked for; the exit status says whether all of it was."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", help="AREA/NAME patterns")
    parser.add_argument("--all", action="store_true", help="also programs that have a recording")
    arguments = parser.parse_args()
    todo = [program for program in programs() if _wanted(program, arguments)]
    _use_real_flink()
    output = _StandardOutput()
    failed = 0
    for program in todo:
        problem = _record(program, output)
        failed += problem is not None
        print(f"{program.name}: {problem or 'recorded'}", file=sys.stderr, flush=True)
    return 1 if failed else 0


def _wanted(program: Program, arguments: Any) -> bool:
    if arguments.names:
        return any(fnmatch.fnmatch(program.name, pattern) for pattern in arguments.names)
    return arguments.all or not program.recording.exists()


def _use_real_flink() -> None:
    """Start over with the Python of PyFlink where this one has none; PyFlink runs workers with `python` of the PATH."""
    try:
        import pyflink  # noqa: F401
    except ImportError:
        python = os.environ.get("PYFLINK_PYTHON")
        if not python:
            sys.exit("set PYFLINK_PYTHON to the Python of an environment with apache-flink==2.3.0")
        os.execv(python, [python, *sys.argv])
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])


def _record(program: Program, output: _StandardOutput) -> str | None:
    """Returns what went wrong."""
    runs = program.parallelisms if len(program.parallelisms) > 1 else program.parallelisms * 2
    outputs = []
    for parallelism in runs:
        try:
            output.take()
            with _default_parallelism(parallelism), _time_limit(program.timeout):
                runpy.run_path(str(program.path), run_name="__main__")
            outputs.append(output.take())
        except Exception as error:
            return f"failed at parallelism {parallelism}: {_telling_lines(error)}"
    first, second = map(program.comparable, outputs)
    if first != second:
        return f"the runs differ\n  {first}\n  {second}"
    program.recording.write_text(cleaned(outputs[0]), encoding="utf-8")
    return None


def _telling_lines(error: Exception) -> str:
    """What a Java error with the error of a Python worker inside is about."""
    lines = f"{type(error).__name__}: {error}".splitlines()
    telling = [line for line in lines if re.match(r"[\w.]*(Error|Exception)\b|Caused by", line)]
    return "\n  ".join(dict.fromkeys(line[:300] for line in telling[-6:]))


@contextmanager
def _default_parallelism(parallelism: int) -> Iterator[None]:
    """Every environment that a program asks for starts with this parallelism."""
    from pyflink.datastream import StreamExecutionEnvironment

    original = StreamExecutionEnvironment.get_execution_environment

    def get_execution_environment(*args: Any) -> Any:
        env = original(*args)
        env.set_parallelism(parallelism)
        return env

    StreamExecutionEnvironment.get_execution_environment = staticmethod(get_execution_environment)
    try:
        yield
    finally:
        StreamExecutionEnvironment.get_execution_environment = staticmethod(original)


@contextmanager
def _time_limit(seconds: int) -> Iterator[None]:
    def give_up(*_: Any) -> None:
        raise TimeoutError(f"not done after {seconds} s")

    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


class _StandardOutput:
    """Standard output of this process and of the JVM, which inherits the file descriptor: a file from here on."""

    def __init__(self) -> None:
        handle, name = tempfile.mkstemp(prefix="oracle-")
        os.close(handle)
        self._file = open(name, "rb")
        # O_APPEND: Python and the JVM take turns.
        appending = os.open(name, os.O_WRONLY | os.O_APPEND)
        os.dup2(appending, 1)
        os.close(appending)

    def take(self) -> str:
        """What was written since the last call."""
        sys.stdout.flush()
        return self._file.read().decode("utf-8")


if __name__ == "__main__":
    sys.exit(main())
