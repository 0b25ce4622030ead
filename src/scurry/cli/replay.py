"""Define `scurry replay`, which runs a captured micro-batch of a subtask again, in its own process."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scurry.cli.operate import errors_shown, say
from scurry.cli.options import Group, whole_number
from scurry.cli.output import print_table, size_text, time_text

if TYPE_CHECKING:
    from scurry.runtime.replay.files import Capture, Start
    from scurry.runtime.replay.replaying import Replayed

Job = Annotated[
    str,
    typer.Argument(
        metavar="JOB", help="Id of the job, its beginning, its name, its checkpoint directory, or that of its captures."
    ),
]
#: Set once the command runs with the hash seed of what was captured.
_SEEDED = "SCURRY_REPLAY_SEEDED"


def add_to(app: typer.Typer) -> None:
    """Add the command to the `scurry` command."""
    app.command(name="replay", rich_help_panel=Group.JOBS)(replay)


def replay(
    job: Job,
    batch: Annotated[
        int | None,
        typer.Option(
            "--batch", parser=whole_number(0), metavar="N", help="The micro-batch. By default, all are listed."
        ),
    ] = None,
    subtask: Annotated[
        int | None,
        typer.Option("--subtask", parser=whole_number(0), metavar="I", help="Only this subtask. By default, all."),
    ] = None,
    operator: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Only the task of this operator or source: its name or uid. By default, all."
        ),
    ] = None,
    post_mortem: Annotated[
        bool, typer.Option("--pdb", help="Open the debugger where a function fails, with its record.")
    ] = False,
    breaks: Annotated[
        list[str] | None,
        typer.Option(
            "--break",
            metavar="FILE:LINE",
            help="Stop there; 'FILE:LINE, CONDITION' if that holds. Many times; by default, nowhere.",
        ),
    ] = None,
    program: Annotated[
        str | None,
        typer.Option(
            metavar="PROGRAM",
            help="Run the functions of the program as it is now, arguments after it; default: those captured.",
        ),
    ] = None,
    show: Annotated[
        int, typer.Option("--show", parser=whole_number(0), metavar="COUNT", help="How many emitted records to print.")
    ] = 10,
    export: Annotated[
        Path | None,
        typer.Option("--export", metavar="FILE", help="Write a test of pytest that does the same. By default, none."),
    ] = None,
    allow_untrusted: Annotated[
        bool, typer.Option("--allow-untrusted", help="Run what other users could have written.")
    ] = False,
) -> None:
    """Run a captured micro-batch of a subtask again, in this process; scurry.replay.capture has jobs capture them."""
    from scurry.runtime.replay.finding import captured_starts, chosen

    with errors_shown():
        with captured_starts(job, allow_untrusted) as found:
            if batch is None:
                _list(found)
                return
            start, captures = chosen(found, batch, subtask, operator)
            if export is not None:
                _export(start, captures, export, program)
                return
            _use_hash_seed(captures)
            same = _Replays(start, program, post_mortem, breaks or [], show).run(captures)
    raise typer.Exit(0 if same else 1)


def _list(found: list[Start]) -> None:
    rows = [
        [
            str(capture.batch),
            capture.operator,
            str(capture.subtask),
            capture.error or ("too large" if capture.too_large else capture.refused or "ended"),
            size_text(capture.too_large or capture.size),
            time_text(capture.captured_ms),
        ]
        for start in found
        for capture in start.captures
    ]
    print_table(["batch", "operator", "subtask", "outcome", "size", "captured"], rows)


def _use_hash_seed(captures: list[Capture]) -> None:
    """Continue in a process whose sets have the order of those that were captured, if that is known."""
    from scurry.runtime.replay.batch import hash_seed

    seeds = {capture.hash_seed for capture in captures}
    if len(seeds) == 1 and (seed := seeds.pop()) not in ("random", hash_seed()) and _SEEDED not in os.environ:
        environment = {**os.environ, "PYTHONHASHSEED": seed, _SEEDED: seed}
        sys.stdout.flush()
        os.execve(sys.executable, [sys.executable, "-m", "scurry", *sys.argv[1:]], environment)


def _export(start: Start, captures: list[Capture], file: Path, program: str | None) -> None:
    from scurry.cli.exported_replay import write_test

    write_test(start, captures, file, program)
    say(f"written: {file}, and what it replays in {file.with_suffix('.replay')}")


class _Replays:
    def __init__(self, start: Start, program: str | None, post_mortem: bool, breaks: list[str], show: int) -> None:
        from scurry.cli.debugging import breakpoint_of, running_to
        from scurry.runtime.replay.replaying import PlanOfStart

        self._start, self._post_mortem, self._show = start, post_mortem, show
        if start.job.get("aliased"):
            from scurry import pyflink_alias

            pyflink_alias.install()
        self._plan = PlanOfStart(start, program)
        self._run: Callable[[Callable[[], None]], None] | None = None
        if breaks:
            self._run = running_to([breakpoint_of(text) for text in breaks])

    def run(self, captures: list[Capture]) -> bool:
        """Run captures one after the other, up to one that fails; return whether all did the same as before."""
        same = True
        for capture in captures:
            replayed = self._plan.replay(capture, self._run)
            self._print(replayed)
            same = same and not replayed.differences
            if replayed.error is not None:
                if self._post_mortem:
                    self._debug(replayed.error)
                break
        return same

    def _print(self, replayed: Replayed) -> None:
        from scurry.runtime.failure import shorten

        capture, records = replayed.capture, replayed.records
        print(f"micro-batch {capture.batch} of {capture.operator!r}, subtask {capture.subtask}:", end=" ")
        if replayed.error is None:
            print(f"ended, {len(records)} records emitted")
        else:
            print("failed")
        for record in records[: self._show]:
            self._line(f"  {record if isinstance(record, str) else shorten(record)}")
        if len(records) > self._show:
            print(f"  ... {len(records) - self._show} more (--show)")
        for difference in replayed.differences:
            self._line(f"  not as captured: {difference}")
        if not replayed.differences:
            print("  as captured, byte for byte")
        sys.stdout.flush()
        if replayed.error is not None:
            from scurry.cli.output import describe

            say(describe(replayed.error, Path(capture.operator)))

    @staticmethod
    def _line(text: str) -> None:
        from scurry.common.redaction import one_line

        print(one_line(text))

    @staticmethod
    def _debug(error: BaseException) -> None:
        from scurry.cli.debugging import post_mortem

        post_mortem(error)
