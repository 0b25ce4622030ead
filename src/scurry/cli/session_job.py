"""Run the program of a job that was submitted to a session, in a process that the session has started for it."""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

from scurry.cli.program import FAILED, run_program
from scurry.launch import LaunchOptions


def main() -> int:
    """Run the program that the request on standard input names.

    Returns:
        Its exit status.
    """
    # Unbuffered: a thread waits for its end, and would hold the lock of a buffer when Python shuts down.
    session = open(0, "rb", buffering=0, closefd=False)
    line = session.readline()
    if not line:
        return FAILED
    request: dict[str, Any] = json.loads(line)
    threading.Thread(target=_end_with, args=(session,), name="scurry-session", daemon=True).start()
    # The program has no terminal: reading from it finds the end.
    sys.stdin = open(os.devnull, encoding="utf-8")
    configuration: dict[str, str] = request["configuration"]
    if configuration.get("scurry.runner") != "local" and "PYSPARK_GATEWAY_PORT" in os.environ:
        from scurry.runtime.early import join_session

        join_session()
    program = request["module"] or Path(request["program"])
    return run_program(program, request["arguments"], LaunchOptions(configuration=configuration), debug=False)


def _end_with(session: Any) -> None:
    """End this process when its session has gone: what it has not committed is repeated by the next one."""
    session.read()
    os._exit(FAILED)


if __name__ == "__main__":
    sys.exit(main())
