"""Type checkers infer what the programs of this directory say, and reject those that are wrong."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted(path for path in Path(__file__).parent.glob("*.py") if path.name != Path(__file__).name)

#: Programs that a type checker may refuse: what they do is wrong on purpose, or in a list of what has no common type.
REFUSED = {
    "boilerplate/configurations_and_paths",
    "boilerplate/settings_are_told_again",
    "convert/types_of_streams",
    "copies/of_chained_functions",
    "types/arrays",
    "types/converted_to_the_declared_type",
    "types/print_primitives",
    "types/seldom_used_names",
    "types/temporal_alone",
    "types/wrong_values_fail",
}
#: A block of Python that is followed by its output.
PROGRAM = r"```python\n((?:(?!```).)*)```\s*```text"
#: What programs without annotations may do: use a variable for something else, begin with an empty list.
ALLOWED = ("assignment", "var-annotated", "import-not-found")
#: pyarrow makes the functions of its module `compute` as it is imported, so that mypy finds none of them.
UNTYPED = "[mypy-pyarrow.*]\nfollow_imports = skip\n"

WRONG_PROGRAM = """
from scurry.datastream import DataStream

def build(lines: DataStream[str]) -> None:
    lines.map(lambda line: line.length)
    lines.map(len).map(str.upper)
"""


def mypy(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """With the settings and the cache of `make lint`."""
    command = [sys.executable, "-m", "mypy", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


def test_programs_have_the_types_they_assert() -> None:
    done = mypy(*PROGRAMS)
    assert done.returncode == 0, done.stdout


def test_errors_are_in_the_words_of_the_api(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(WRONG_PROGRAM)
    found = mypy(program).stdout.splitlines()
    assert ['"str" has no attribute "length"' in found[0], "MapFunction[int, Any]" in found[1]] == [True, True], found


def programs_of_users() -> Iterator[tuple[str, str]]:
    """Name and text of the programs that were recorded on Flink, of the examples and of those in the documentation."""
    for path in sorted((ROOT / "tests" / "oracle").glob("*/*.py")):
        if f"{path.parent.name}/{path.stem}" not in REFUSED:
            yield f"{path.parent.name}_{path.stem}", re.sub(r"\bpyflink\b", "scurry", path.read_text())
    for path in sorted((ROOT / "examples").glob("*.py")):
        yield path.stem, path.read_text()
    for page in sorted((ROOT / "docs").rglob("*.md")):
        for number, code in enumerate(re.findall(PROGRAM, page.read_text(), re.DOTALL)):
            yield f"{page.stem.replace('-', '_')}_{number}", code


@pytest.mark.slow
def test_programs_that_run_are_not_refused(tmp_path: Path) -> None:
    """As their users check them: with mypy's defaults, functions without annotations included."""
    for name, text in programs_of_users():
        (tmp_path / f"{name}.py").write_text(text)
    settings = tmp_path / "mypy.ini"
    settings.write_text(f"[mypy]\ncheck_untyped_defs = true\nfollow_untyped_imports = true\n{UNTYPED}")
    options: list[str | Path] = ["--config-file", settings, "--cache-dir", ".mypy_cache/programs"]
    allowed = [f"--disable-error-code={code}" for code in ALLOWED]
    done = mypy(*options, *allowed, *sorted(tmp_path.glob("*.py")))
    assert done.returncode == 0, done.stdout
