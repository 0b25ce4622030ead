"""A session on Spark: one application, and Flink's own command line as its client."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.session.shell import Shell, wait_for

pytestmark = [pytest.mark.spark, pytest.mark.nightly]

PROGRAM = Path(__file__).parent / "programs" / "job.py"
#: The directory of an installed `pyflink`; there is none by default.
PYFLINK = Path(os.environ.get("SCURRY_PYFLINK", "no-pyflink"))


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    tmp_path.chmod(0o700)
    shell = Shell(tmp_path)
    yield shell
    shell.kill()


def test_jobs_of_a_killed_session_come_back_with_their_state(shell: Shell) -> None:
    process, _ = shell.start()
    runs, cancelled, fails = (
        shell.scurry("run", "--session", "default", "-d", str(PROGRAM), what) for what in ("run", "run", "fail")
    )
    wait_for(lambda: shell.over().get(fails) == "FAILED")
    wait_for(lambda: len(shell.counts(runs)) > 20 and len(shell.counts(cancelled)) > 0)
    shell.scurry("cancel", cancelled)
    wait_for(lambda: shell.over().get(cancelled) == "CANCELED")
    process.send_signal(signal.SIGKILL)
    process.wait()
    wait_for(lambda: shell.states() == {})
    before = shell.counts(runs)
    shell.start()
    wait_for(lambda: len(shell.counts(runs)) > len(before) + 20)
    after = shell.counts(runs)[len(before) :]
    # counted on from a checkpoint: what was printed after it may come twice, nothing is missing
    assert after == list(range(after[0], after[0] + len(after)))
    assert 1 < after[0] <= before[-1] + 1
    assert shell.over() == {fails: "FAILED", cancelled: "CANCELED"}
    shell.scurry("session", "stop")


def test_the_second_job_of_a_program_comes_back_with_its_state(shell: Shell) -> None:
    process, _ = shell.start()
    program = shell.scurry("run", "--session", "default", "-d", str(PROGRAM), "run-second")
    wait_for(lambda: len(shell.counts(program)) > 20)
    running = shell.states()
    process.send_signal(signal.SIGKILL)
    process.wait()
    wait_for(lambda: shell.states() == {})
    before = shell.counts(program)
    shell.start()
    wait_for(lambda: len(shell.counts(program)) > len(before) + 20)
    after = shell.counts(program)[len(before) :]
    assert after == list(range(after[0], after[0] + len(after)))
    assert 1 < after[0] <= before[-1] + 1
    assert shell.states() == running
    # the program began again: what it collects is collected again, its first job has nothing left to do
    assert shell.output(program).count("sum 3") == 2
    assert shell.output(program).count("first 2") == 1
    shell.scurry("session", "stop")
    assert not list((shell.home / "state" / "scurry" / "sessions" / "default" / "checkpoints").iterdir())


@pytest.mark.skipif(not PYFLINK.exists(), reason="no PyFlink is installed: SCURRY_PYFLINK names the directory of one")
def test_flinks_command_line_lists_saves_stops_and_cancels(shell: Shell, tmp_path: Path) -> None:
    _, url = shell.start("--no-token", "--runner", "spark")
    flink = PYFLINK / "bin" / "flink"
    java = {**os.environ, "PATH": f"{PYFLINK.parents[3] / 'bin'}:{os.environ['PATH']}"}

    def command(name: str, *arguments: str) -> str:
        done = subprocess.run(
            ["bash", str(flink), name, "-m", url.removeprefix("http://"), *arguments],
            capture_output=True, text=True, timeout=300, env=java,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    stopped, cancelled = (shell.scurry("run", "--session", "default", "-d", str(PROGRAM), "run") for _ in range(2))
    wait_for(
        lambda: list(shell.states().values()) == ["RUNNING"] * 2 and shell.counts(stopped) and shell.counts(cancelled)
    )
    listed = command("list", "-r")
    assert f"{stopped} : run (RUNNING)" in listed and f"{cancelled} : run (RUNNING)" in listed
    taken = re.search(r"Path: (?:file:)?(\S+)", command("savepoint", stopped, str(tmp_path / "savepoints")))
    assert taken is not None and Path(taken[1]).is_dir()
    end = re.search(r"Path: (?:file:)?(\S+)", command("stop", "-p", str(tmp_path / "savepoints"), stopped))
    assert end is not None and Path(end[1]).is_dir() and end[1] != taken[1]
    assert "Cancelled job" in command("cancel", cancelled)
    wait_for(lambda: shell.over() == {stopped: "FINISHED", cancelled: "CANCELED"})
    everything = command("list", "-a")
    assert f"{stopped} : run (FINISHED)" in everything and f"{cancelled} : run (CANCELED)" in everything
    shell.scurry("session", "stop")
