"""Dependencies on a local Spark: workers import from where the program does, wherever that was started."""

from __future__ import annotations

import tarfile
import textwrap
import venv
from pathlib import Path

import pytest

from support.dependencies.projects import OUTPUT, WHICH, Project, another_python, printed

pytestmark = pytest.mark.spark

LOCAL = ["--master", "local[2]"]


def test_every_kind_of_dependency_reaches_the_workers_from_any_directory(project: Project) -> None:
    assert printed(project.scurry_run(*LOCAL, *project.options)) == OUTPUT


PLAIN = """
    import pkg.inner
    from scurry.datastream import StreamExecutionEnvironment

    def name(value):
        return pkg.inner.NAME

    if __name__ == "__main__":
        env = StreamExecutionEnvironment.get_execution_environment()
        env.set_parallelism(1)
        env.from_collection([1]).map(pkg.inner.shout).print()
        env.execute()
"""


@pytest.fixture
def package(project: Project) -> Path:
    """A program within a package, whose functions are in another module of it."""
    directory = project.program.parent
    (directory / "pkg" / "inner.py").write_text("def shout(value):\n    return 'inner'\n")
    (directory / "pkg" / "job.py").write_text(textwrap.dedent(PLAIN))
    (directory / "plain.py").write_text(textwrap.dedent(PLAIN))
    return directory


@pytest.mark.nightly
def test_plain_python_from_another_directory(project: Project, package: Path) -> None:
    assert printed(project.run(str(package / "plain.py"))) == ["inner"]


@pytest.mark.nightly
def test_a_module_of_a_package(project: Project, package: Path) -> None:
    done = project.run("-m", "pkg.job", environment={"PYTHONPATH": str(package)})
    assert printed(done) == ["inner"]


@pytest.mark.nightly
def test_a_module_that_the_command_runs(project: Project, package: Path) -> None:
    done = project.run("-m", "scurry", "run", *LOCAL, "-pyfs", str(package), "-pym", "pkg.job")
    assert printed(done) == ["inner"]


@pytest.mark.nightly
def test_workers_run_on_the_interpreter_they_are_given(project: Project, tmp_path: Path) -> None:
    python = another_python(tmp_path / "venv")
    project.program.write_text(textwrap.dedent(WHICH))
    assert printed(project.scurry_run(*LOCAL, "-pyexec", str(python))) == [str(tmp_path / "venv")]


@pytest.mark.nightly
def test_workers_run_on_an_interpreter_of_an_archive(project: Project, tmp_path: Path) -> None:
    another_python(tmp_path / "venv")
    with tarfile.open(tmp_path / "venv.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "venv", "env")
    project.program.write_text(textwrap.dedent(WHICH))
    options = ["-pyarch", f"{tmp_path / 'venv.tar.gz'}#packed", "-pyexec", "packed/env/bin/python"]
    (line,) = printed(project.scurry_run(*LOCAL, *options))
    assert line.endswith("/archives/packed/env")


@pytest.mark.nightly
def test_an_interpreter_without_scurry_is_refused_before_there_is_a_spark(project: Project, tmp_path: Path) -> None:
    venv.EnvBuilder(symlinks=True).create(tmp_path / "bare")
    python = tmp_path / "bare" / "bin" / "python"
    done = project.scurry_run(*LOCAL, "-pyexec", str(python))
    assert f"{python} lacks what workers need: {python} -m pip install scurry pyspark pandas" in done.stderr
    assert len(done.stderr.splitlines()) <= 4


@pytest.mark.nightly
def test_a_changed_file_is_what_the_next_job_of_the_session_gets(project: Project) -> None:
    project.program.write_text(
        textwrap.dedent(f"""
        import os, time
        from scurry.datastream import StreamExecutionEnvironment

        def name(value):
            import changing
            return changing.NAME

        for number in (1, 2):
            with open({str(project.parts / "changing.py")!r}, "w") as file:
                file.write(f"NAME = {{number}}")
            env = StreamExecutionEnvironment.get_execution_environment()
            env.set_parallelism(1)
            env.add_python_file({str(project.parts / "changing.py")!r})
            env.from_collection([1]).map(name).print()
            env.execute()
    """)
    )
    assert printed(project.scurry_run(*LOCAL)) == ["1", "2"]


def test_nothing_listens_at_the_master(project: Project) -> None:
    done = project.scurry_run("--master", "spark://127.0.0.1:9", timeout=30)
    assert "ClusterUnreachableError: no Spark master answers at spark://127.0.0.1:9" in done.stderr
    assert len(done.stderr.splitlines()) <= 4
