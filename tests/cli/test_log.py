"""`scurry log` lists the topics of a log, and the last records of one."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from scurry.cli.commands import app
from scurry.datastream.connectors.log import FileLog


@pytest.fixture
def log(tmp_path: Path) -> FileLog:
    made = FileLog(str(tmp_path))
    made.create_topic("words", 2)
    made.append("words", ["to", "be", None], ["a", None, "b"], partition=1)
    made.append("words", ["or"], partition=0)
    return made


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["log", *arguments])
    return result.exit_code, result.output


def test_topics_are_listed(log: FileLog) -> None:
    status, printed = run(log.path)
    assert status == 0
    assert [line.split() for line in printed.splitlines()] == [
        ["TOPIC", "PARTITION", "FIRST", "END"],
        ["words", "0", "0", "1"],
        ["words", "1", "0", "3"],
    ]


def test_the_last_records_of_a_topic_are_printed(log: FileLog) -> None:
    assert run("-n", "2", log.path, "words") == (0, "0:0\tor\n1:1\tbe\n1:2\tb\t\n")


def test_a_missing_topic_is_named(log: FileLog) -> None:
    status, printed = run(log.path, "word")
    assert status == 2 and "there is no topic 'word'" in printed
