"""With scurry-pyflink-stubs, type checkers know what programs that import pyflink get from scurry."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

import scurry
import scurry.pyflink_alias  # noqa: F401
from support.modules import load_module

ROOT = Path(__file__).parents[2]
STUBS = ROOT / "stubs"
#: As recorded from PyFlink.
PROGRAM = ROOT / "tests" / "oracle" / "keyed" / "rolling_over_rows.py"
#: line of the text below -> what it misspells
MISTAKES = {5: "set_paralelism", 6: "lenght"}
WRONG = """
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment
env = StreamExecutionEnvironment.get_execution_environment()
env.set_paralelism(3)
env.from_collection(["a"], Types.STRING()).map(lambda word: word.lenght)
""".removeprefix("\n").replace("env =", "\nenv =", 1)


def generator() -> ModuleType:
    return load_module(STUBS / "generate.py")


@pytest.fixture
def programs(tmp_path: Path) -> list[Path]:
    right, wrong = tmp_path / "right.py", tmp_path / "wrong.py"
    right.write_text(PROGRAM.read_text(encoding="utf-8"))
    wrong.write_text(WRONG)
    return [right, wrong]


def check(*command: object) -> str:
    """Run a type checker that finds the stubs as if they were installed."""
    environment = {**os.environ, "PYTHONPATH": str(STUBS)}
    full = [sys.executable, "-m", *map(str, command)]
    return subprocess.run(full, capture_output=True, text=True, cwd=ROOT, env=environment, timeout=300).stdout


def test_they_are_in_step_with_scurrys_modules() -> None:
    """`python stubs/generate.py` makes them anew."""
    directory = STUBS / "pyflink-stubs"
    written = {str(file.relative_to(directory)): file.read_text(encoding="utf-8") for file in directory.rglob("*.pyi")}
    assert written == generator().stubs()


def test_each_is_of_a_module_that_programs_can_import() -> None:
    for stub in generator().stubs():
        module = ".".join(["pyflink", *Path(stub).with_suffix("").parts]).removesuffix(".__init__")
        assert importlib.import_module(module).__name__.startswith("scurry"), module


@pytest.mark.slow
def test_mypy_finds_the_mistakes_and_no_others(programs: list[Path], tmp_path: Path) -> None:
    settings = tmp_path / "mypy.ini"
    settings.write_text(
        "[mypy]\ncheck_untyped_defs = true\nfollow_untyped_imports = true\n[mypy-pyarrow.*]\nfollow_imports = skip\n"
    )
    found = check("mypy", "--config-file", settings, "--cache-dir", ".mypy_cache/programs", *programs).splitlines()
    errors = [line for line in found if " error: " in line]
    assert len(errors) == len(MISTAKES), found
    for error, (line, name) in zip(errors, MISTAKES.items(), strict=True):
        assert f"wrong.py:{line}: " in error and name in error


@pytest.mark.slow
def test_pyright_finds_the_mistakes_and_no_others(programs: list[Path]) -> None:
    report = json.loads(check("pyright", "--outputjson", "--pythonpath", sys.executable, *programs))
    found = [each for each in report["generalDiagnostics"] if each["severity"] == "error"]
    assert {(Path(each["file"]).name, each["range"]["start"]["line"] + 1) for each in found} == {
        ("wrong.py", line) for line in MISTAKES
    }, found


@pytest.mark.nightly
def test_the_wheel_has_the_stubs_and_scurrys_version(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(STUBS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name.startswith(f"scurry_pyflink_stubs-{scurry.__version__}-")
    assert {f"pyflink-stubs/{stub}" for stub in generator().stubs()} <= set(zipfile.ZipFile(wheel).namelist())
