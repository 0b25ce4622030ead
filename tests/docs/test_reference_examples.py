"""Every public method is called by a program of examples/reference: the programs are run, and their calls recorded."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from support.docs.examples import PROGRAMS, WITHOUT_EXAMPLE, calls_of, public_methods

called = functools.cache(calls_of)


@pytest.mark.parametrize("program", PROGRAMS, ids=[program.stem for program in PROGRAMS])
def test_a_program_runs_and_calls_what_the_reference_lists(program: Path) -> None:
    assert set(called(program)) & set(public_methods())


def test_every_public_method_has_an_example_but_those_on_the_list() -> None:
    with_example = set().union(*(called(program) for program in PROGRAMS))
    assert sorted(set(public_methods()) - with_example) == WITHOUT_EXAMPLE.read_text(encoding="utf-8").split()


def test_a_method_that_is_named_but_not_called_does_not_count(tmp_path: Path) -> None:
    program = tmp_path / "named.py"
    program.write_text("from scurry.common import Row\nrow = Row(a=1)\nif not row:\n    row.as_dict()\nrow.as_dict\n")
    assert calls_of(program) == {}
