"""Control characters of data, names and errors never reach a terminal as such."""

from __future__ import annotations

import io
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scurry.cli import operate, program, statements
from scurry.cli.output import print_table
from scurry.common import Configuration
from scurry.common.redaction import one_line, printable
from scurry.datastream import StreamExecutionEnvironment
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.progress import ProgressDisplay
from scurry.sql.client import terminal
from scurry.sql.client.results import cells
from scurry.testing import job_plan_of

#: Sets the title of a terminal; the sequence of one character that introduces commands; a text that runs backwards.
HOSTILE = "\x1b]0;owned\x07 \x9b31m \u202egnp\u2069 \r\x08"


@given(st.text())
def test_no_control_characters_are_left_but_lines_and_tabs(text: str) -> None:
    left = {char for char in printable(text) if unicodedata.category(char) in ("Cc", "Cs")}
    assert left <= {"\n", "\t"}
    assert not {char for char in one_line(text) if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp")}
    one_line(text).encode()


@given(st.text(st.characters(exclude_categories=["C", "Z"])))
def test_other_texts_are_unchanged(text: str) -> None:
    assert printable(text) == one_line(text) == text


def test_control_characters_are_shown() -> None:
    assert printable("a\x1b[31m\tb\nc\u202e") == "a\\x1b[31m\tb\nc\\u202e"
    assert one_line("a\nb\tc\x00") == "a\\nb\\tc\\x00"


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return "".join(capsys.readouterr())


@pytest.mark.parametrize(
    "say",
    [
        operate.say, program._print_error, statements._write, statements._complain, terminal._write, terminal._complain,
        lambda text: print_table(["name"], [[text]]),
    ],
    ids=["say", "error of a program", "line of SQL", "error of SQL", "line", "error", "table"],
)  # fmt: skip
def test_what_commands_print_is_safe(say: Any, capsys: pytest.CaptureFixture[str]) -> None:
    say(f"job {HOSTILE}")
    shown = said(capsys)
    assert "owned" in shown
    assert not set(shown) & set("\x1b\x07\x9b\u202e\u2069\r\x08")


def test_the_name_of_a_job_does_not_reach_the_progress_display() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration())
    env.from_collection([1]).map(abs).name(HOSTILE).print()
    execution, stream = JobExecution(job_plan_of(env, f"job\n{HOSTILE}")), io.StringIO()
    execution.totals.late = {HOSTILE: 1}
    display = ProgressDisplay(execution, stream)
    display._say(display.summary() + "; ".join(display._status()))
    assert "owned" in stream.getvalue() and "\x1b" not in stream.getvalue()
    assert stream.getvalue().startswith("job\\n")


def test_a_line_break_in_a_value_stays_in_its_cell() -> None:
    assert cells((0, ["a\nb", None, HOSTILE])) == ["a\\nb", "<NULL>", one_line(HOSTILE)]
