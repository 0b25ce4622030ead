"""Functions of users in tables find what a program adds: files, packages and archives."""

from __future__ import annotations

import textwrap

import pytest

from support.dependencies.projects import Project, printed

#: The module of a function is in a file that is added, as is what it imports: the program's own directory has neither.
MODULE = """
    import extra
    from pyflink.table.udf import udf

    @udf(result_type="STRING")
    def word(number):
        with open("data/words.txt") as words:
            return f"{number} {extra.NAME} {words.read().strip()}"
"""
PROGRAM = """
    import sys
    from pathlib import Path
    from pyflink.table import EnvironmentSettings, TableEnvironment
    from pyflink.table.udf import udf

    parts, modes = Path(sys.argv[1]), sys.argv[2:]

    @udf(result_type="STRING")
    def required(number):
        import tiny
        return f"{number} {tiny.NAME}"

    for mode in modes:
        settings = EnvironmentSettings.new_instance()
        env = TableEnvironment.create((settings.in_batch_mode() if mode == "batch" else settings).build())
        env.add_python_file(str(parts / "extra.py"))
        env.add_python_file(str(parts / "functions.py"))
        env.add_python_archive(str(parts / "words.zip"), "data")
        env.execute_sql("CREATE FUNCTION word AS 'functions.word' LANGUAGE PYTHON")
        rows = "FROM (VALUES (1), (2)) AS t(n)"
        print(mode, sorted(row[0] for row in env.execute_sql("SELECT word(n) " + rows).collect()))
        env.set_python_requirements(str(parts / "requirements.txt"), str(parts / "packages"))
        env.create_temporary_function("required", required)
        print(mode, sorted(row[0] for row in env.execute_sql("SELECT required(n) " + rows).collect()))
"""


@pytest.fixture
def tables(project: Project) -> Project:
    """The project with a program of tables."""
    (project.parts / "functions.py").write_text(textwrap.dedent(MODULE))
    project.program.write_text(textwrap.dedent(PROGRAM))
    return project


@pytest.mark.parametrize("mode", ["batch", "streaming"])
def test_in_this_process_functions_import_files_and_open_archives(tables: Project, mode: str) -> None:
    done = tables.run("-m", "scurry", "run", "--runner", "local", str(tables.program), str(tables.parts), mode)
    assert done.stdout.splitlines() == [f"{mode} ['1 extra words', '2 extra words']"]
    assert "lacks tiny==1.0: " in done.stderr


@pytest.mark.spark
@pytest.mark.in_turn
def test_workers_of_spark_have_every_kind_of_dependency(tables: Project) -> None:
    options = ["--master", "local[2,8]", str(tables.program), str(tables.parts), "batch", "streaming"]
    assert printed(tables.run("-m", "scurry", "run", *options)) == [
        "batch ['1 extra words', '2 extra words']",
        "batch ['1 tiny 1.0', '2 tiny 1.0']",
        "streaming ['1 extra words', '2 extra words']",
        "streaming ['1 tiny 1.0', '2 tiny 1.0']",
    ]


def test_a_module_that_is_in_no_file_is_named_where_it_is_called(tables: Project) -> None:
    program = tables.program.read_text().replace('env.add_python_file(str(parts / "functions.py"))', "")
    tables.program.write_text(program)
    done = tables.run("-m", "scurry", "run", "--runner", "local", str(tables.program), str(tables.parts), "batch")
    assert (
        "Cannot load Python function 'functions.word' for word: No module named 'functions': "
        "add its file with add_python_file or python.files"
    ) in done.stderr
