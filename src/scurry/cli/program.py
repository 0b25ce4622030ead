"""Run a user's program in this process as Python would, and report its failure in the user's terms."""

from __future__ import annotations

import os
import runpy
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from scurry import __version__, pyflink_alias
from scurry.cli.output import describe
from scurry.common._process import launch
from scurry.common._process.launch import LaunchOptions, activate
from scurry.graph.dependencies import JobDependencies

FAILED = 1
"""Exit status of a program that raised."""

INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells report it."""


def run_program(program: Path | str, arguments: Sequence[str], options: LaunchOptions, *, debug: bool) -> int:
    """Run a program as ``__main__``, with ``pyflink`` resolving to scurry.

    Args:
        program: The program's file, or the name of its module, as for ``python -m``. A file that ends with ``.sql``
            is a script of SQL statements.
        arguments: Its ``sys.argv[1:]``.
        options: The options that ``scurry.common._process.launch.current()`` returns to the execution environment.
        debug: Whether failures show the whole traceback.

    Returns:
        The exit status: the program's own, 1 if it raised, 130 if it was interrupted.
    """
    from scurry.runtime.engines import end_early, start_early

    pyflink_alias.install(announce=_say_what_pyflink_is)
    before = len(launch.operators_left())
    prepare = None if options.explain_only else start_early
    try:
        with _as_started_by_python(program, arguments), activate(options, prepare):
            JobDependencies(options.overrides())  # the program may import from python.files, too
            if prepare is not None:
                prepare(options.overrides())
            if isinstance(program, Path) and program.suffix.lower() == ".sql":
                return _run_script(program, debug=debug)
            if isinstance(program, str):
                runpy.run_module(program, run_name="__main__", alter_sys=True)
            else:
                runpy.run_path(str(program), run_name="__main__")
    except SystemExit as end:
        if (status := _exit_status(end)) == 0:
            _tell_what_was_not_executed(launch.operators_left()[before:])
        return status
    except KeyboardInterrupt:
        _print_error("interrupted")
        if _job_is_running():
            # The user does not want to wait, and Python's own exit would wait for the job's threads.
            os._exit(INTERRUPTED)
        return INTERRUPTED
    except Exception as failure:
        _print_error(describe(failure, Path(program), debug=debug))
        return FAILED
    finally:
        sys.stdout.flush()
        if prepare is not None:
            end_early()
    _tell_what_was_not_executed(launch.operators_left()[before:])
    return 0


def _run_script(script: Path, *, debug: bool) -> int:
    """Run a script of SQL statements.

    Returns:
        The exit status: 1 if a statement failed.
    """
    from scurry.table._scripts import ScriptError, run_script

    try:
        run_script(script)
    except ScriptError as failure:
        _print_error(describe(failure.error, script, debug=True) if debug else f"error: {failure}")
        return FAILED
    return 0


@contextmanager
def _as_started_by_python(program: Path | str, arguments: Sequence[str]) -> Iterator[None]:
    """Set ``sys.argv`` and the import path as ``python PROGRAM`` would, also for Python workers started meanwhile."""
    directory = os.getcwd() if isinstance(program, str) else str(program.resolve().parent)
    argv, path, python_path = sys.argv, sys.path[:], os.environ.get("PYTHONPATH")
    sys.argv = [str(program), *arguments]
    sys.path.insert(0, directory)
    os.environ["PYTHONPATH"] = os.pathsep.join([directory, *([python_path] if python_path else [])])
    try:
        yield
    finally:
        sys.argv, sys.path[:] = argv, path
        if python_path is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = python_path


def _job_is_running() -> bool:
    jobs = [thread for thread in threading.enumerate() if thread.name == "scurry-job"]
    for thread in jobs:
        thread.join(0.2)  # a job that has just stopped ends soon
    return any(thread.is_alive() for thread in jobs)


def _exit_status(end: SystemExit) -> int:
    if end.code is None or isinstance(end.code, int):
        return end.code or 0
    print(end.code, file=sys.stderr)
    return FAILED


def _tell_what_was_not_executed(places: Sequence[tuple[str, int]]) -> None:
    if places:
        _print_error(launch.not_executed(places))


def _say_what_pyflink_is() -> None:
    print(f"pyflink resolves to scurry {__version__}", file=sys.stderr)


def _print_error(message: str) -> None:
    from scurry.common.redaction import (
        printable,
        without_secrets,  # not at the top: `scurry version` does not need it
    )

    # The program's own output comes first, also if both go to one file.
    sys.stdout.flush()
    print(printable(without_secrets(message)), file=sys.stderr, flush=True)
