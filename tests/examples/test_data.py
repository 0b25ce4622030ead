"""The data of the tutorials is what its program makes."""

from __future__ import annotations

import runpy

import pytest

from support import TESTS

DATA = TESTS.parent / "examples" / "data"
FILES = runpy.run_path(str(DATA / "make.py"))["files"]()


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_file_is_what_the_program_makes(name: str) -> None:
    assert (DATA / name).read_text(encoding="utf-8") == FILES[name]
