"""The way of a statement from `execute_sql` to running operators: how deep it calls, and through which packages."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

from scurry.errors.user_frames import BOUNDARY
from support.statements.tables import environment

#: Calls from `execute_sql` down, in one stack; there are 29 in STREAMING.
MOST_CALLS = 35
#: Packages in one stack.
MOST_PACKAGES = 14

#: The packages and functions of a stack, the outermost first.
Stack = tuple[tuple[str, str], ...]


def package_of(frame: FrameType) -> str | None:
    """Return the package of a function of scurry; those of SQL are one level further down."""
    name = frame.f_globals.get("__name__", "")
    if frame.f_code.co_filename == BOUNDARY or not name.startswith("scurry."):  # the guard of a public method
        return None
    return ".".join(name.split(".")[: 3 if name.startswith("scurry.sql.") else 2])


def stack_of(frame: FrameType | None) -> Stack:
    found = []
    while frame is not None:
        if (package := package_of(frame)) is not None:
            found.append((package, f"{frame.f_globals['__name__']}.{frame.f_code.co_qualname}"))
        frame = frame.f_back
    return tuple(reversed(found))


class Observed:
    """The stacks of a statement: all of the thread that executes it, and the first down to an operator of its job."""

    def __init__(self) -> None:
        self.stacks: set[Stack] = set()
        self.operator: Stack | None = None
        self._thread = threading.get_ident()

    def call(self, frame: FrameType, event: str, _: object) -> None:
        if event != "call" or (package := package_of(frame)) is None:
            return
        if threading.get_ident() == self._thread:
            self.stacks.add(stack_of(frame))
        elif self.operator is None and package == "scurry.sql.operators":
            self.operator = stack_of(frame)


@contextmanager
def observed() -> Iterator[Observed]:
    found, before = Observed(), sys.getprofile()
    threading.setprofile(found.call)
    sys.setprofile(found.call)
    try:
        yield found
    finally:
        sys.setprofile(before)
        threading.setprofile(None)


def entered(stack: Stack) -> list[str]:
    """Return the packages that a stack enters, in order."""
    packages = [package for package, _ in stack]
    return [each for place, each in enumerate(packages) if place == 0 or packages[place - 1] != each]


def entries_again(stack: Stack) -> set[str]:
    """Return the calls by which a stack enters a package that it has been in before."""
    found, seen = set(), {stack[0][0]}
    for (before, caller), (package, callee) in zip(stack, stack[1:], strict=False):
        if package != before and package in seen:
            found.add(f"{caller} calls {callee}")
        seen.add(package)
    return found


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
def test_an_insertion_gets_to_its_operators_without_entering_a_package_twice(mode: str, tmp_path: Path) -> None:
    env = environment(mode == "STREAMING")
    (tmp_path / "a").write_text("1\n2\n2\n")
    env.execute_sql(
        f"CREATE TABLE a (k INT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/a', 'format' = 'csv')"
    )
    env.execute_sql("CREATE TABLE o (k INT, n BIGINT) WITH ('connector' = 'blackhole')")
    insert = "INSERT INTO o SELECT k, COUNT(*) FROM a WHERE k > 0 GROUP BY k"
    env.execute_sql(insert).wait()  # imports modules
    with observed() as found:
        result = env.execute_sql(insert)
    result.wait()
    stacks = found.stacks if found.operator is None else {*found.stacks, found.operator}
    assert any(stack[-1][1].endswith("RunningJob.__init__") for stack in stacks), "the job was started"
    assert max(map(len, stacks)) <= MOST_CALLS
    assert max(len(set(entered(stack))) for stack in stacks) <= MOST_PACKAGES
    assert set().union(*map(entries_again, stacks)) == set()
