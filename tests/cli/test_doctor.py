"""`scurry doctor` says what scurry needs of a machine, and what to do where something is missing."""

from __future__ import annotations

import socket
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from scurry.cli import doctor
from scurry.cli.commands import app
from scurry.spark.session import java

PROJECT = Path(__file__).parents[2]


def found(subject: str) -> doctor.Finding:
    (finding,) = [each for each in doctor.findings() if each.subject == subject]
    return finding


def test_every_extra_of_a_connector_is_looked_for() -> None:
    extras = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(doctor.EXTRAS) == set(extras) - {"java"}


def test_it_says_what_was_found_and_that_jobs_can_run(monkeypatch: pytest.MonkeyPatch) -> None:
    good = doctor.Finding("Python", "ok", "3.11.2")
    monkeypatch.setattr(doctor, "findings", lambda: [good])
    done = CliRunner().invoke(app, ["doctor"])
    assert (done.exit_code, done.stdout) == (0, "ok     Python   3.11.2\njobs can run\n")


def test_without_java_it_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("JAVA_HOME", "")
    monkeypatch.setattr(java, "_packaged_home", lambda: None)
    assert found("Java") == doctor.Finding(
        "Java", "wrong", "Spark needs Java 17 or later, and none was found (looked at JAVA_HOME and PATH)",
        "scurry setup",
    )  # fmt: skip
    done = CliRunner().invoke(app, ["doctor"])
    assert done.exit_code == 1
    assert "-> scurry setup" in done.stdout


@pytest.mark.parametrize(("archives", "state"), [(["classes.jsa"], "note"), ([], "ok")], ids=["whole", "trimmed"])
def test_setup_is_advised_where_it_would_help(
    archives: list[str], state: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A trimmed Java, as the one from PyPI, takes no archive of Spark's classes."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").touch(mode=0o755)
    (tmp_path / "release").write_text('JAVA_VERSION="21.0.8"\n')
    (tmp_path / "lib" / "server").mkdir(parents=True)
    for name in archives:
        (tmp_path / "lib" / "server" / name).touch()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert found("Java").state == state


def test_a_host_name_without_an_address_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_address(name: str) -> str:
        raise OSError(name)

    monkeypatch.setattr(socket, "gethostbyname", no_address)
    assert found("network").state == "wrong"
    assert "SPARK_LOCAL_IP" in found("network").advice


def test_too_little_memory_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_memory_limits", lambda: iter([8 * 2**30, 2**30]))
    assert found("memory").state == "wrong"
    assert found("memory").found.startswith("1.0 GB")


def test_a_cache_directory_that_cannot_be_used_is_wrong(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(doctor, "_try_files", lambda directory: "programs cannot be executed there (noexec)")
    assert found("cache").state == "wrong"


def test_a_file_system_that_takes_files_passes(tmp_path: Path) -> None:
    assert doctor._try_files(tmp_path) is None


def test_a_missing_directory_does_not_pass(tmp_path: Path) -> None:
    assert "No such file" in str(doctor._try_files(tmp_path / "gone"))


def test_a_missing_extra_is_noted_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "EXTRAS", {"kafka": "no-such-package"})
    assert found("extra") == doctor.Finding("extra", "note", "kafka: not installed", "pip install 'scurry[kafka]'")


def test_a_package_that_is_too_old_does_not_satisfy() -> None:
    assert doctor._satisfied("packaging>=20")
    assert not doctor._satisfied("packaging<20")
