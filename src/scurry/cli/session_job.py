"""Run the program of a job that was submitted to a session, in a process that the session has started for it."""

from __future__ import annotations

import importlib
import json
import os
import select
import sys
import threading
from pathlib import Path
from typing import Any, BinaryIO

from scurry.cli.program import FAILED, run_program
from scurry.common._process.launch import LaunchOptions

#: Modules that a script of SQL loads, some after its job: a process that lasts loads them before its first run.
_OF_RUNS = ("scurry.table._scripts", "scurry.sql.statements.execution", "scurry.rest.app")


def main() -> int:
    """Run the program that the request on standard input names, or those of many requests.

    Returns:
        Its exit status.
    """
    # Unbuffered: a thread waits for its end, and would hold the lock of a buffer when Python shuts down.
    session = open(0, "rb", buffering=0, closefd=False)
    line = session.readline()
    if not line:
        return FAILED
    request: dict[str, Any] = json.loads(line)
    threading.Thread(target=_end_with_session, name="scurry-session", daemon=True).start()
    # The program has no terminal: reading from it finds the end.
    sys.stdin = open(os.devnull, encoding="utf-8")
    return _run_all(session) if request.get("lasting") else _run(request)


def _run_all(session: BinaryIO) -> int:
    """Run programs one after the other; the answer to each request is its exit status."""
    from scurry.rest.endpoint import await_archives

    for module in _OF_RUNS:
        importlib.import_module(module)
    answers = os.dup(1)
    while line := session.readline():
        request = json.loads(line)
        _redirect(1, request["output"])
        _redirect(2, request["errors"])
        status = _run(request)
        await_archives()
        os.write(answers, b"%d\n" % status)
    return 0


def _redirect(stream: int, path: str) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(file, stream)
    os.close(file)


def _run(request: dict[str, Any]) -> int:
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


def _end_with_session() -> None:
    """End this process when its session has gone: the next one repeats its uncommitted work."""
    hung_up = select.poll()
    hung_up.register(0, 0)
    hung_up.poll()
    os._exit(FAILED)


if __name__ == "__main__":
    sys.exit(main())
