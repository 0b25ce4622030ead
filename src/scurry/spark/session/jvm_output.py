"""Filter Spark's own messages out of the output of the JVM and its Python workers.

The JVM inherits a pipe in place of both outputs. A thread here passes on what user functions print, and drops what
Spark prints when it starts and stops.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_CHATTER = re.compile(
    r"Streaming TransformWithState|^WARNING: (Using incubator|package sun)|Setting default log level|"
    r"To adjust logging level|FutureWarning: PySpark does not yet|require_minimum_pandas_version|^Picked up |"
    # Spark looks for py4j's errors with a regular expression that overflows the stack on long ones: harmless
    r"^Exception in thread \"stream execution thread.*StackOverflowError|^\tat java\.base/java\.util\.regex|"
    r"^\s*$|^Using Spark's default log4j|^WARNING: A (restricted|terminally)|^WARNING: .*(Unsafe|native access)"
)
#: In tracebacks of Spark's daemon when a query ends while a worker writes; with simple workers, also on SIGTERM.
_DAEMON = re.compile(r'File ".*pyspark/(daemon|worker_util|worker)\.py"')


@contextmanager
def quiet_jvm() -> Iterator[None]:
    """Filter the output of processes that are started within a `with` block."""
    sys.stdout.flush()
    sys.stderr.flush()
    saved = os.dup(1), os.dup(2)
    write = filtered_output()
    os.dup2(write, 1)
    os.dup2(write, 2)
    os.close(write)
    try:
        yield
    finally:
        for number, fd in zip((1, 2), saved, strict=True):
            os.dup2(fd, number)
            os.close(fd)


def filtered_output() -> int:
    """Return a file that copies its input to the present standard error, without Spark's messages."""
    read, write = os.pipe()
    threading.Thread(target=_pump, args=(read, os.dup(2)), name="scurry-jvm-output", daemon=True).start()
    return write


def _pump(read: int, target: int) -> None:
    """Pass lines on; hold a traceback back until it is known whether it is the daemon's."""
    held: list[bytes] = []
    with os.fdopen(read, "rb") as lines:
        for line in lines:
            text = line.decode("utf-8", "replace")
            if held or text.startswith("Traceback (most recent call last)"):
                held.append(line)
                if text.startswith((" ", "Traceback")):
                    continue
                if not (_DAEMON.search(b"".join(held).decode("utf-8", "replace")) and "BrokenPipeError" in text):
                    os.write(target, b"".join(held))
                held = []
            elif not _CHATTER.search(text):
                os.write(target, line)
