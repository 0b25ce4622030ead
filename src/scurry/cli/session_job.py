"""Run the program of a job that was submitted to a session, in a process that the session has started for it."""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

from scurry.cli.program import FAILED, run_program
from scurry.common._process.launch import LaunchOptions


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
    file = Path(request["program"])
    if file.suffix in (".zip", ".pyz"):  # its modules are imported, here and in workers
        files = [str(file), *filter(None, [configuration.get("python.files")])]
        configuration["python.files"] = ",".join(files)
    if configuration.get("scurry.runner") != "local" and "PYSPARK_GATEWAY_PORT" in os.environ:
        from scurry.runtime.engines import join_session

        join_session()
    plan = request.get("plan")
    options = LaunchOptions(
        configuration=configuration, explain_only=plan is not None, plan_file=None if plan is None else Path(plan)
    )
    return run_program(request["module"] or file, request["arguments"], options, debug=False)


def _end_with(session: Any) -> None:
    """End this process when its session has gone: the next one repeats its uncommitted work."""
    session.read()
    os._exit(FAILED)


if __name__ == "__main__":
    sys.exit(main())
