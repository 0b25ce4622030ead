"""`scurry replay` on the job of its page, which fails on a record."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from scurry.cli.commands import app

PAGE = Path(__file__).parents[2] / "docs" / "replay.md"
PROGRAM = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


class Shell:
    """Runs commands in a directory, with a state directory of its own."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.environment = {**os.environ, "XDG_STATE_HOME": str(directory / "state"), "SCURRY_REPLAY_SEEDED": ""}

    def __call__(self, *arguments: str, typed: str = "", status: int = 0) -> str:
        """Return what a command prints on both streams, the output first."""
        done = subprocess.run(
            [sys.executable, "-m", *arguments],
            input=typed, cwd=self.directory, env=self.environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A shell where the job of the page has failed."""
    directory = tmp_path_factory.mktemp("replay")
    assert PROGRAM is not None
    (directory / "payments.py").write_text(PROGRAM[1])
    shell = Shell(directory)
    said = shell("scurry", "run", "payments.py", status=1)
    assert re.search(r"record: \('bob', -5\)\n  run it again: scurry replay \S+ --batch 0 --subtask 0\n", said)
    return shell


def test_a_scripted_debugger_stops_at_the_record_that_failed(shell: Shell) -> None:
    shown = shell("scurry", "replay", "payments", "--batch", "0", "--pdb", typed="p value, total\nw\nq\n")
    assert "micro-batch 0 of 'share', subtask 0: failed\n  as captured, byte for byte\n" in shown
    assert "(Pdb) (('bob', -5), 0)\n" in shown
    assert "-> yield customer, round(100 * paid / total)" in shown
    assert shown.count("process_element()") == 2, "only frames of the program"


def test_breakpoints_stop_in_the_captured_functions(shell: Shell) -> None:
    arguments = ["scurry", "replay", "payments", "--batch", "0", "--break", "payments.py:15, paid < 0"]
    shown = shell(*arguments, typed="p customer, total, self.total.value()\nc\n")
    assert shown.count("-> self.total.update(total)") == 1
    assert "(Pdb) ('bob', 0, 5)\n" in shown


def test_functions_of_the_program_as_it_is_now_run_on_what_was_captured(shell: Shell) -> None:
    text = (shell.directory / "payments.py").read_text()
    (shell.directory / "mended.py").write_text(text.replace("paid / total", "paid / (total or 1)"))
    arguments = ["scurry", "replay", "payments", "--batch", "0", "--program", "mended.py"]
    shown = shell(*arguments, status=1)
    assert "ended, 4 records emitted\n  ('ann', 100)\n  ('bob', 100)\n  ('bob', -500)\n  ('ann', 33)\n" in shown
    assert "not as captured: it ended; when it was captured it failed with ZeroDivisionError: division by zero" in shown
    with_breakpoint = text.replace("        self.total.update", "        breakpoint()\n        self.total.update")
    (shell.directory / "stops.py").write_text(with_breakpoint)
    shown = shell(*arguments[:-1], "stops.py", typed="p value\nc\n" * 3)
    assert "(Pdb) ('bob', -5)\n" in shown


def test_a_program_of_other_operators_is_refused(shell: Shell) -> None:
    text = (shell.directory / "payments.py").read_text()
    (shell.directory / "other.py").write_text(text.replace(".process(Share())", ".map(str).map(len)"))
    said = shell("scurry", "replay", "payments", "--batch", "0", "--program", "other.py", status=1)
    assert "error: the program's operators are not those that were captured: " in said
    (shell.directory / "other.py").write_text(text.replace('"payments")', '"other")'))
    said = shell("scurry", "replay", "payments", "--batch", "0", "--program", "other.py", status=1)
    assert "error: other.py executes no job 'payments', which was captured: it executes 'other'\n" in said


def test_an_exported_test_passes_and_can_be_moved(shell: Shell) -> None:
    said = shell("scurry", "replay", "payments", "--batch", "0", "--export", "moved/test_bob.py")
    assert "written: moved/test_bob.py, and what it replays in moved/test_bob.replay\n" in said
    (shell.directory / "moved").rename(shell.directory / "elsewhere")
    assert " passed" in shell("pytest", "-q", "-p", "no:cacheprovider", "elsewhere/test_bob.py")
    said = shell("scurry", "replay", "payments", "--batch", "0", "--export", "elsewhere/test_bob.py", status=1)
    assert "elsewhere/test_bob.py exists already; name another file, or delete it first" in said


def test_captures_are_listed(shell: Shell) -> None:
    header, line = shell("scurry", "replay", "payments").splitlines()
    assert header.split() == ["batch", "operator", "subtask", "outcome", "size", "captured"]
    assert line.startswith("0      share     0        ZeroDivisionError: division by zero  ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["payment", "--batch", "0"], "no job 'payment' has captured micro-batches on this machine; did you mean 'pay"),
        (["payments", "--batch", "7"], "micro-batch 7 is not captured; there are 0\n  hint: older ones may"),
        (["payments", "--batch", "0", "--subtask", "3"], "micro-batch 0 of subtask 3 is not captured; there are 0\n"),
        (["payments", "--batch", "0", "--operator", "shares"], "operator 'shares' has no captured micro-batch 0; did"),
        (["payments", "--batch", "0", "--break", "payments.py"], "--break 'payments.py' is no FILE:LINE"),
        (["payments", "--batch", "0", "--break", "pay.py:3"], "no breakpoint can be set at pay.py:3"),
        (["payments", "--batch", "0", "--program", "gone.py"], "there is no program gone.py"),
        (["./payments", "--batch", "0"], "there are no captured micro-batches in ./payments\n  hint: run the job"),
    ],
)  # fmt: skip
def test_what_there_is_not_is_one_error(
    shell: Shell, arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", shell.environment["XDG_STATE_HOME"])
    done = CliRunner().invoke(app, ["replay", *arguments])
    assert (done.exit_code, message in done.stderr) == (1, True), done.stderr
