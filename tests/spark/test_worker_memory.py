"""Workers do not keep what a large micro-batch has needed."""

from __future__ import annotations

import subprocess
import sys

import pytest

#: Fills 64 MB with blocks that malloc hands out, and frees all but the last, so that the heap cannot just be cut off.
PROGRAM = """
import pyarrow

from scurry.spark.workers.memory import give_back

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 >> 20

before = resident()
blocks = [bytes(64_000) for _ in range(1000)]
del blocks[:-1]
{then}
print(resident() - before)
"""


def megabytes_kept(then: str) -> int:
    ran = subprocess.run([sys.executable, "-c", PROGRAM.format(then=then)], capture_output=True, text=True, check=True)
    return int(ran.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc, and only glibc can be told to give memory back")
def test_what_a_task_has_freed_goes_back() -> None:
    assert megabytes_kept("pass") > 40
    assert megabytes_kept("give_back()") < 30
