"""Sessions on this machine write files without a process that sets their permissions."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from scurry.spark.session.cds import spark_home
from scurry.spark.session.jvm_classes import file_system
from scurry.spark.session.jvm_classes.file_system import FILE_SYSTEM, file_system_options
from scurry.spark.session.jvm_classes.jar import CLASS_PATH, jar_path, make_jar
from scurry.spark.session.options import session_options


@pytest.fixture
def jar(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    path = tmp_path / "classes.jar"
    monkeypatch.setattr(file_system, "jar_path", lambda: path)
    return path


def test_without_the_compiled_class_sessions_have_no_such_setting(jar: Path) -> None:
    assert file_system_options() == {}


def test_the_class_path_of_the_user_comes_behind_that_of_the_class(jar: Path) -> None:
    jar.touch()
    assert file_system_options("/their.jar")[CLASS_PATH] == f"{jar}{os.pathsep}/their.jar"


def test_without_the_class_the_class_path_of_the_user_remains(jar: Path) -> None:
    assert file_system_options("/their.jar") == {CLASS_PATH: "/their.jar"}


@pytest.mark.parametrize("master", ["local-cluster[2,1,1024]", "spark://host:7077"])
def test_executors_elsewhere_use_the_file_system_of_hadoop(master: str, jar: Path) -> None:
    jar.touch()
    assert FILE_SYSTEM not in session_options(master, {}, bounded=True)


def test_the_file_system_of_the_user_takes_precedence(jar: Path) -> None:
    jar.touch()
    assert session_options("local", {FILE_SYSTEM: "Theirs"}, bounded=True)[FILE_SYSTEM] == "Theirs"


@pytest.mark.spark
def test_files_and_directories_get_the_permissions_that_hadoop_asks_for(spark: Any, tmp_path: Path) -> None:
    home = spark_home()
    assert home is not None
    assert make_jar(home / "jars") is not None
    jvm = spark._jvm
    files = _loader(spark, jar_path()).loadClass("LocalFiles").getDeclaredConstructor(None).newInstance(None)
    files.initialize(jvm.java.net.URI("file:///"), spark._jsc.hadoopConfiguration())
    permission = jvm.org.apache.hadoop.fs.permission.FsPermission
    directory = jvm.org.apache.hadoop.fs.Path(str(tmp_path / "directory"))
    files.mkdirs(directory, permission("750"))
    files.setPermission(directory, permission("1750"))
    assert stat.S_IMODE((tmp_path / "directory").stat().st_mode) == 0o1750
    file = jvm.org.apache.hadoop.fs.Path(str(tmp_path / "file"))
    files.create(file).close()
    files.setPermission(file, permission("640"))
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


def _loader(spark: Any, jar: Path) -> Any:
    jvm = spark._jvm
    urls = spark.sparkContext._gateway.new_array(jvm.java.net.URL, 1)
    urls[0] = jvm.java.io.File(str(jar)).toURI().toURL()
    return jvm.java.net.URLClassLoader(urls)
