"""The files of jobs that share an application: executors that join later get those of the jobs that run."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scurry.errors import ConfigError
from scurry.spark.workers.shared_files import SharedFiles


class Scala(dict[str, Any]):
    """A concurrent map of Scala, as Py4J shows it."""

    def get(self, key: str, default: Any = None) -> Any:
        return SimpleNamespace(get=lambda: self[key])

    def remove(self, key: str) -> None:
        self.pop(key)


class Context:
    """A context that adds files as Spark does."""

    def __init__(self) -> None:
        self.files, self.archives = Scala(), Scala()
        spark = SimpleNamespace(
            addedFiles=lambda: Scala(default=self.files), addedArchives=lambda: Scala(default=self.archives)
        )
        self._jsc = SimpleNamespace(sc=lambda: spark)

    @property
    def listFiles(self) -> list[str]:  # noqa: N802 - Spark's name
        return list(self.files)

    @property
    def listArchives(self) -> list[str]:  # noqa: N802 - Spark's name
        return list(self.archives)

    def addFile(self, path: str) -> None:  # noqa: N802 - Spark's name
        self.files[f"spark://driver:1/files/{Path(path).name}"] = path

    def addArchive(self, path: str) -> None:  # noqa: N802 - Spark's name
        self.archives[f"spark://driver:1/files/{Path(path).name}"] = path

    def fetch(self) -> list[str]:
        """What an executor that joins now fetches."""
        paths = [*self.files.values(), *(path.partition("#")[0] for path in self.archives.values())]
        return [Path(path).read_text() for path in paths]


@pytest.fixture
def context() -> Context:
    return Context()


@pytest.fixture
def shared(tmp_path: Path) -> SharedFiles:
    (tmp_path / "files").mkdir()
    return SharedFiles(tmp_path / "files")


def bundle(tmp_path: Path, name: str) -> Path:
    """A file in the directory of a job's process."""
    (tmp_path / "process").mkdir(exist_ok=True)
    (tmp_path / "process" / name).write_text(name)
    return tmp_path / "process" / name


def test_an_executor_gets_the_files_of_running_jobs_though_the_process_that_sent_them_has_gone(
    context: Context, shared: SharedFiles, tmp_path: Path
) -> None:
    shared.add(context, "a", [bundle(tmp_path, "x.zip")], [(bundle(tmp_path, "data.zip"), "data")])
    (tmp_path / "process" / "x.zip").unlink()
    (tmp_path / "process" / "data.zip").unlink()
    assert context.fetch() == ["x.zip", "data.zip"]


def test_files_of_jobs_that_are_over_are_not_fetched_but_stay_for_tasks_that_ask_for_them(
    context: Context, shared: SharedFiles, tmp_path: Path
) -> None:
    shared.add(context, "a", [bundle(tmp_path, "x.zip")], [])
    shared.add(context, "b", [bundle(tmp_path, "y.zip")], [])
    shared.release(context, "a")
    assert context.fetch() == ["y.zip"]
    assert (tmp_path / "files" / "x.zip").exists()


def test_files_that_another_job_uses_stay(context: Context, shared: SharedFiles, tmp_path: Path) -> None:
    for job in ("a", "b"):
        shared.add(context, job, [bundle(tmp_path, "x.zip")], [(bundle(tmp_path, "data.zip"), "data")])
    shared.release(context, "a")
    assert context.fetch() == ["x.zip", "data.zip"]


def test_nothing_is_left_on_disk_when_no_job_runs(context: Context, shared: SharedFiles, tmp_path: Path) -> None:
    shared.add(context, "a", [bundle(tmp_path, "x.zip")], [(bundle(tmp_path, "data.zip"), "data")])
    shared.add(context, "a", [bundle(tmp_path, "y.zip")], [])  # the second job of the program
    shared.release(context, "a")
    assert context.fetch() == []
    assert list((tmp_path / "files").iterdir()) == []
    shared.add(context, "b", [bundle(tmp_path, "x.zip")], [])
    assert context.fetch() == ["x.zip"]


def test_two_archives_for_one_directory_are_refused_while_both_jobs_run(
    context: Context, shared: SharedFiles, tmp_path: Path
) -> None:
    shared.add(context, "a", [], [(bundle(tmp_path, "one.zip"), "data")])
    with pytest.raises(ConfigError, match=r"another job of this session has unpacked another archive as 'data'"):
        shared.add(context, "b", [], [(bundle(tmp_path, "two.zip"), "data")])
    shared.release(context, "b")
    shared.release(context, "a")
    shared.add(context, "c", [], [(bundle(tmp_path, "two.zip"), "data")])
    assert context.fetch() == ["two.zip"]
