"""The class-data archive is used where it is there and missed by nobody where it is not."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pyspark
import pytest

import scurry
from scurry.spark.session import cds

LOADED = "org.apache.spark.deploy.SparkSubmit source: shared objects file"


@pytest.fixture
def archive(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    path = tmp_path / "cds.jsa"
    monkeypatch.setattr(cds, "archive_path", lambda: path)
    return path


def test_there_are_no_options_without_an_archive(archive: Path) -> None:
    assert cds.cds_options() == []


def test_the_options_name_the_archive(archive: Path) -> None:
    archive.write_bytes(b"classes")
    assert f"-XX:SharedArchiveFile={archive}" in cds.cds_options()


def test_an_archive_that_does_not_fit_is_no_error(archive: Path) -> None:
    archive.write_bytes(b"classes")
    assert "-Xshare:auto" in cds.cds_options()


def test_an_empty_archive_says_that_this_java_has_no_use_for_one(archive: Path) -> None:
    archive.touch()
    assert cds.cds_options() == []


def test_pyspark_in_a_zip_as_spark_submit_brings_it_has_none() -> None:
    (zipped,) = (Path(pyspark.__file__).parent / "python" / "lib").glob("pyspark.zip")
    command = [sys.executable, "-c", "from scurry.spark.session.cds import cds_options; print(cds_options())"]
    paths = [str(zipped), str(Path(scurry.__file__).parent.parent)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    assert subprocess.check_output(command, text=True, env=environment) == "[]\n"


def test_the_dump_goes_to_the_file_asked_for(tmp_path: Path) -> None:
    assert f"-XX:ArchiveClassesAtExit={tmp_path}/new.jsa" in cds.dump_options(tmp_path / "new.jsa")


def aged(path: Path, days: float) -> Path:
    path.write_bytes(b"classes")
    os.utime(path, (time.time() - days * 86_400,) * 2)
    return path


def test_archives_that_nobody_has_used_for_a_month_are_deleted_when_another_one_is_made(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        if command[1:3] == ["-m", "scurry.spark.session.cds_job"]:
            Path(command[3].partition("=")[2]).write_bytes(b"classes")
        return subprocess.CompletedProcess(command, 0, LOADED)

    monkeypatch.setattr(subprocess, "run", made)
    unused, used = aged(tmp_path / "cds-1.jsa", 31), aged(tmp_path / "cds-2.jsa", 29)
    assert cds.make_archive() == archive
    assert not unused.exists()
    assert used.exists()


def test_the_time_of_an_archive_is_that_of_its_last_use(archive: Path) -> None:
    aged(archive, 29)
    cds.cds_options()
    assert time.time() - archive.stat().st_mtime < 86_400
