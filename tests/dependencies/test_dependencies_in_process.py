"""`scurry run --runner local`: dependencies are honoured in the process itself, or refused."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import pytest

from support.dependencies.projects import OUTPUT, Project, make_wheel, printed


def test_files_and_archives_are_there_for_functions_and_the_working_directory_is_as_before(project: Project) -> None:
    (project.parts / "tiny.py").write_text("NAME = 'tiny 1.0'")
    program = project.program.read_text() + "import os; print(os.getcwd())\n"
    project.program.write_text(program)
    files = f"{project.parts / 'extra.py'},{project.parts / 'tiny.py'}"
    archive = f"{project.parts / 'words.zip'}#data"
    done = project.scurry_run("--runner", "local", "-pyfs", files, "-pyarch", archive)
    assert printed(done) == [*OUTPUT, str(project.elsewhere)]


def test_zips_wheels_and_directories_can_be_imported_from(project: Project) -> None:
    wheel = make_wheel(project.parts, "wheely", "2.0")
    (project.parts / "lib").mkdir()
    (project.parts / "lib" / "plain.py").write_text("NAME = 'plain'")
    project.program.write_text("import plain, wheely; print(plain.NAME, wheely.NAME)")
    done = project.scurry_run("--runner", "local", "-pyfs", f"{wheel},{project.parts / 'lib'}")
    assert printed(done) == ["plain wheely 2.0"]


def test_files_added_by_the_program_are_there_for_its_functions(project: Project) -> None:
    project.program.write_text(
        textwrap.dedent(f"""
        from scurry.datastream import StreamExecutionEnvironment

        def name(value):
            import extra
            return extra.NAME

        env = StreamExecutionEnvironment.get_execution_environment()
        env.add_python_file({str(project.parts / "extra.py")!r})
        env.from_collection([1]).map(name).print()
        env.execute()
    """)
    )
    assert printed(project.scurry_run("--runner", "local", "-p", "1")) == ["extra"]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["-pyreq", "{parts}/requirements.txt"], "lacks tiny==1.0: " + sys.executable + " -m pip install -r"),
        (["-pyexec", "/usr/bin/env"], "the in-process runner runs functions on " + sys.executable),
        (["-pyfs", "/nowhere.py"], "python.files: /nowhere.py does not exist"),
        (["-pyclientexec", "/nowhere/python"], "python.client.executable: /nowhere/python is no program"),
    ],
)
def test_what_cannot_be_honoured_is_one_short_error(project: Project, options: list[str], complaint: str) -> None:
    named = [option.format(parts=project.parts) for option in options]
    done = project.scurry_run("--runner", "local", *named)
    assert done.returncode == 1
    assert complaint in done.stderr
    assert len(done.stderr.splitlines()) <= 5


def test_a_requirement_that_is_met_is_no_obstacle(project: Project) -> None:
    (project.parts / "requirements.txt").write_text("pytest>=1\n")
    project.program.write_text(
        "from scurry.datastream import StreamExecutionEnvironment\n"
        "env = StreamExecutionEnvironment.get_execution_environment()\n"
        "env.from_collection([1]).print()\nenv.execute()\n"
    )
    requirements = str(project.parts / "requirements.txt")
    assert printed(project.scurry_run("--runner", "local", "-p", "1", "-pyreq", requirements)) == ["1"]


def test_a_module_runs_as_the_program(project: Project) -> None:
    (project.parts / "entry.py").write_text("import sys; print(__name__, sys.argv[1:])")
    done = project.run("-m", "scurry", "run", "-pyfs", str(project.parts), "-pym", "entry", "a", "--b")
    assert printed(done) == ["__main__ ['a', '--b']"]


def test_the_program_can_be_given_as_an_option_as_flink_does(project: Project) -> None:
    project.program.write_text("import sys; print(sys.argv[1:])")
    assert printed(project.run("-m", "scurry", "run", "-py", str(project.program), "x")) == ["['x']"]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ([], "Missing argument 'PROGRAM'"),
        (["/nowhere.py"], "File '/nowhere.py' does not exist"),
        (["-py", "a.py", "-pym", "a"], "name a file or a module, not both"),
    ],
)
def test_a_command_line_without_one_program_is_wrong(project: Project, options: list[str], complaint: str) -> None:
    done = project.run("-m", "scurry", "run", *options, environment={"COLUMNS": "200"})
    assert (done.returncode, complaint in done.stderr) == (2, True)


def test_another_interpreter_runs_the_program(project: Project, tmp_path: Path) -> None:
    wrapper = tmp_path / "bin" / "python"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\nWRAPPED=yes exec {sys.executable} "$@"\n')
    wrapper.chmod(0o755)
    project.program.write_text("import os; print(os.environ.get('WRAPPED'))")
    assert printed(project.scurry_run("-pyclientexec", str(wrapper))) == ["yes"]


def test_a_module_that_a_function_misses_comes_with_advice(project: Project) -> None:
    done = project.scurry_run("--runner", "local", "-p", "1")
    assert "ModuleNotFoundError: No module named 'extra'" in done.stderr
    assert "in operator 'Map' built at" in done.stderr
    assert "env.add_python_file('.../extra.py')" in done.stderr
