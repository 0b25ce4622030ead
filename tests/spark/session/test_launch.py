"""The command that starts Spark's JVM is the one that `spark-submit` would find out."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from scurry.spark.session.cds import spark_home
from scurry.spark.session.java import java_home
from scurry.spark.session.launch import gateway_command, is_known, java_command

OPTIONS = {
    "spark.driver.memory": "2g",
    "spark.driver.extraClassPath": "/somewhere/classes.jar",
    "spark.driver.extraJavaOptions": "-Xss4m -Dkey=value",
}


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the directory of PySpark, in an environment that configures nothing."""
    for name in [name for name in os.environ if name.startswith("SPARK_") or name.endswith("_CONF_DIR")]:
        monkeypatch.delenv(name)
    found = spark_home()
    assert found is not None
    return found


def said_by_the_launcher(home: Path, options: dict[str, str]) -> list[str]:
    """Return the command that Spark's launcher finds out, without its main class and that one's arguments."""
    main = "org.apache.spark.deploy.SparkSubmit"
    settings = [part for key, value in options.items() for part in ("--conf", f"{key}={value}")]
    launcher = [str(java_home() / "bin" / "java"), "-cp", f"{home}/jars/*", "org.apache.spark.launcher.Main", main]
    environment = {"SPARK_HOME": str(home), "JAVA_HOME": str(java_home()), "SPARK_SCALA_VERSION": "2.13"}
    said = subprocess.check_output([*launcher, *settings, "pyspark-shell"], text=True, env=environment)
    command = [part for part in said.strip("\n\0").split("\0") if part.strip()]
    return command[: command.index(main)]


def test_the_command_of_the_jvm_is_the_one_of_sparks_launcher(home: Path) -> None:
    assert is_known(home, OPTIONS)
    assert java_command(home, OPTIONS) == said_by_the_launcher(home, OPTIONS)


def test_the_settings_of_the_start_are_those_of_the_session(home: Path) -> None:
    command, variables = gateway_command(home, OPTIONS)
    assert "-Dspark.driver.extraJavaOptions=-Xss4m -Dkey=value" in command
    assert command[-1] == "org.apache.spark.api.python.PythonGatewayServer"
    assert variables["SPARK_HOME"] == str(home)


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"spark.jars.packages": "a:b:1"}, id="packages"),
        pytest.param({"spark.driver.extraJavaOptions": "-Dkey='a b'"}, id="quotes"),
        pytest.param({"spark.driver.extraJavaOptions": "-Xmx1g"}, id="a heap that the launcher refuses"),
    ],
)
def test_spark_submit_finds_out_what_settings_change(home: Path, changed: dict[str, str]) -> None:
    command, variables = gateway_command(home, {**OPTIONS, **changed})
    assert command[0] == str(home / "bin" / "spark-submit")
    assert variables == {}


@pytest.mark.parametrize("variable", ["SPARK_CONF_DIR", "SPARK_SUBMIT_OPTS", "HADOOP_CONF_DIR"])
def test_spark_submit_finds_out_what_the_environment_changes(
    home: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "/somewhere")
    assert gateway_command(home, OPTIONS)[0][0] == str(home / "bin" / "spark-submit")


def test_variables_that_the_jvm_reads_change_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    assert is_known(home, OPTIONS)


def test_spark_submit_finds_out_what_a_directory_of_settings_changes(home: Path, tmp_path: Path) -> None:
    (tmp_path / "jars").symlink_to(home / "jars")
    assert is_known(tmp_path, OPTIONS)
    (tmp_path / "conf").mkdir()
    assert not is_known(tmp_path, OPTIONS)
