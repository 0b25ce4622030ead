"""Dependencies on a standalone cluster whose workers share nothing with the program but the installed packages."""

from __future__ import annotations

import textwrap
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.dependencies.projects import OUTPUT, WHICH, Project, Result, another_python, new_project, printed
from support.faults.standalone_cluster import Cluster

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    place = tmp_path_factory.mktemp("cluster")
    with Cluster(place, clean=True, HOME=str(place)) as cluster:
        cluster.add_worker()
        yield cluster


def run(cluster: Cluster, project: Project, *options: str) -> Result:
    memory = ["-D", "spark.executor.memory=512m", "-D", "spark.driver.host=127.0.0.1",
              "-D", "spark.executor.extraJavaOptions=-XX:+UseSerialGC -XX:TieredStopAtLevel=1"]  # fmt: skip
    return project.scurry_run("--master", cluster.url, *memory, *options)


@pytest.mark.in_turn
def test_every_kind_of_dependency_reaches_the_workers(cluster: Cluster, project: Project) -> None:
    assert printed(run(cluster, project, *project.options)) == OUTPUT


@pytest.mark.nightly
def test_batch_jobs_have_them_too(cluster: Cluster, project: Project) -> None:
    assert printed(run(cluster, project, "--mode", "batch", *project.options)) == OUTPUT


@pytest.mark.nightly
@pytest.mark.parametrize("mode", ["streaming", "batch"])
def test_a_missing_module_is_a_short_error_with_module_operator_and_advice(
    cluster: Cluster, project: Project, mode: str
) -> None:
    done = run(cluster, project, "--mode", mode, "-D", "scurry.ship-program=false")
    assert "WorkerModuleError: workers have no module named 'helper'" in done.stderr
    assert f"in operator 'Map' built at {project.program}:" in done.stderr
    assert "env.add_python_file('.../helper.py')" in done.stderr
    assert len(done.stderr.splitlines()) <= 7


@pytest.mark.nightly
def test_requirements_that_cannot_be_installed_are_a_short_error(cluster: Cluster, project: Project) -> None:
    (project.parts / "requirements.txt").write_text("nowhere==3\n")
    done = run(cluster, project, *project.options)
    assert "DependencyError: python.requirements: " in done.stderr
    assert "nowhere" in done.stderr
    assert len(done.stderr.splitlines()) <= 5


@pytest.mark.nightly
def test_state_of_a_shipped_class_is_restored_where_its_module_is_sent_anew(cluster: Cluster, project: Project) -> None:
    savepoints = project.parts / "savepoints"
    history = run(cluster, project, "--mode", "batch", "--final-savepoint", str(savepoints), *project.options)
    assert printed(history) == OUTPUT
    with open(project.program.parent / "helper.py", "a") as helper:
        helper.write("\nCHANGED = True\n")
    (savepoint,) = savepoints.iterdir()
    restored = run(cluster, project, "--mode", "streaming", "-s", str(savepoint), *project.options)
    assert printed(restored) == [OUTPUT[0].replace("2", "8", 1), OUTPUT[1].replace("6", "12", 1)]


@pytest.mark.nightly
def test_workers_run_on_the_interpreter_they_are_given(cluster: Cluster, project: Project, tmp_path: Path) -> None:
    python = another_python(tmp_path / "venv")
    project.program.write_text(textwrap.dedent(WHICH))
    assert printed(run(cluster, project, "-pyexec", str(python))) == [str(tmp_path / "venv")]


@pytest.mark.nightly
def test_an_interpreter_without_scurry_is_a_short_error(cluster: Cluster, project: Project, tmp_path: Path) -> None:
    venv.EnvBuilder(symlinks=True).create(tmp_path / "bare")
    python = str(tmp_path / "bare" / "bin" / "python")
    done = run(cluster, project, "--mode", "batch", "-pyexec", python)
    # Spark reports the first attempt to start a worker, which has a message, or a later one, which has none
    asked, said = f"on the cluster, {python} lacks what workers need", "the Python of the workers has no module named"
    assert f"InterpreterError: {asked}" in done.stderr or f"InterpreterError: {said}" in done.stderr
    assert len(done.stderr.splitlines()) <= 4


@pytest.mark.nightly
def test_an_interpreter_that_no_worker_has_is_a_short_error(cluster: Cluster, project: Project) -> None:
    done = run(cluster, project, "--mode", "batch", "-pyexec", "/nowhere/python")
    assert "InterpreterError: workers cannot start /nowhere/python" in done.stderr
    assert len(done.stderr.splitlines()) <= 4


@pytest.mark.nightly
def test_plain_python_sends_its_modules(cluster: Cluster, tmp_path: Path) -> None:
    project = new_project(tmp_path)
    (project.program.parent / "helper.py").write_text("def shout(value):\n    return 'shouted'\n")
    project.program.write_text(
        textwrap.dedent(f"""
        import helper
        from scurry.common import Configuration
        from scurry.datastream import StreamExecutionEnvironment

        settings = {{"spark.master": {cluster.url!r}, "spark.executor.memory": "512m"}}
        env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
        env.set_parallelism(1)
        env.from_collection([1]).map(helper.shout).print()
        env.execute()
    """)
    )
    assert printed(project.run(str(project.program))) == ["shouted"]
