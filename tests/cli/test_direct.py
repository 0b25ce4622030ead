"""Plain arguments mean the same whether typer parses them or not; all others are left to it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from scurry.cli import commands, program, statements
from scurry.cli.direct import direct_command

PLAIN = [
    "run PROGRAM",
    "run --runner local PROGRAM",
    "run --runner=spark --mode batch PROGRAM one --two -p 3",
    "run -p 4 PROGRAM",
    "run --parallelism 2 -D a.b=1=2 -D parallelism.default=3 PROGRAM x",
    "run -D scurry.runner=local PROGRAM -D x=y",
    "sql -e STATEMENT",
    "sql --execute STATEMENT --runner local -e STATEMENT -D parallelism.default=2",
]
OTHERS = [
    "",
    "run",
    "run --help",
    "run PROGRAM -- x",
    "run -- PROGRAM",
    "run nowhere.py",
    "run -p4 PROGRAM",
    "run -p=4 PROGRAM",
    "run -p 0 PROGRAM",
    "run -p four PROGRAM",
    "run -p 1 -p 2 PROGRAM",
    "run --runner LOCAL PROGRAM",
    "run --runner flink PROGRAM",
    "run --mode stream PROGRAM",
    "run --master local[2] PROGRAM",
    "run -D parallelism.default PROGRAM",
    "run -D paralelism.default=2 PROGRAM",
    "run -D python.client.executable=python3 PROGRAM",
    "run --session s PROGRAM",
    "run --debug PROGRAM",
    "run -s DIR PROGRAM",
    "run -D",
    "sql",
    "sql -e",
    "sql -e STATEMENT more",
    "sql -f PROGRAM",
    "sql --runner flink -e STATEMENT",
    "sql --endpoint http://localhost -e STATEMENT",
    "version",
]


def words(text: str, directory: Path) -> list[str]:
    file = directory / "program.py"
    file.touch()
    named = {"PROGRAM": str(file), "STATEMENT": "SELECT 1 - 2"}
    return [named.get(word, word) for word in text.split()]


@pytest.mark.parametrize("text", PLAIN)
def test_plain_arguments_mean_the_same_without_typer(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Any] = []

    def called(*arguments: Any, **named: Any) -> int:
        calls.append((arguments, named))
        return 7

    monkeypatch.setattr(program, "run_program", called)
    monkeypatch.setattr(commands, "run_program", called)
    monkeypatch.setattr(statements, "execute", called)
    arguments = words(text, tmp_path)
    command = direct_command(arguments)
    assert command is not None
    assert (command(), CliRunner().invoke(commands.app, arguments).exit_code) == (7, 7)
    assert calls[0] == calls[1]


@pytest.mark.parametrize("text", OTHERS)
def test_other_arguments_are_left_to_typer(text: str, tmp_path: Path) -> None:
    assert direct_command(words(text, tmp_path)) is None


def test_a_reader_that_has_gone_ends_a_plain_command_without_a_traceback(tmp_path: Path) -> None:
    file = tmp_path / "many.py"
    file.write_text("for _ in range(100_000):\n    print('x' * 100)\n")
    shell = f"'{sys.executable}' -m scurry run --runner local '{file}' | head -1"
    done = subprocess.run(shell, shell=True, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "x" * 100 + "\n")
