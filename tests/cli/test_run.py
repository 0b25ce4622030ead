"""``scurry run``: a program runs as Python would run it, and fails in its author's terms."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import scurry
from scurry.cli.commands import app
from scurry.cli.options import Group

SOURCE = str(Path(scurry.__file__).parent.parent)
ENVIRONMENT = {**os.environ, "PYTHONPATH": SOURCE, "PYTHONUNBUFFERED": "1"}

Result = subprocess.CompletedProcess[str]


def scurry_command(*arguments: str) -> Result:
    command = [sys.executable, "-m", "scurry", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=ENVIRONMENT)


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], str]:
    def write(code: str) -> str:
        file = tmp_path / "program.py"
        file.write_text(textwrap.dedent(code), encoding="utf-8")
        return str(file)

    return write


def options_seen_by(write: Callable[[str], str], *options: str) -> str:
    printed = "print(sorted(launch.current().overrides().items()))"
    file = write(f"from scurry.common._process import launch; {printed}")
    return scurry_command("run", *options, file).stdout.strip()


def test_the_program_is_main_and_has_its_arguments(program: Callable[[str], str]) -> None:
    file = program("import sys; print(__name__, sys.argv[1:])")
    assert scurry_command("run", file, "a", "--parallelism", "x").stdout == "__main__ ['a', '--parallelism', 'x']\n"


def test_modules_next_to_the_program_can_be_imported(program: Callable[[str], str], tmp_path: Path) -> None:
    (tmp_path / "neighbour.py").write_text("NAME = 'next door'")
    assert scurry_command("run", program("import neighbour; print(neighbour.NAME)")).stdout == "next door\n"


def test_python_processes_the_program_starts_find_its_modules_too(
    program: Callable[[str], str], tmp_path: Path
) -> None:
    (tmp_path / "neighbour.py").write_text("NAME = 'next door'")
    file = program("""
        import subprocess, sys
        subprocess.run([sys.executable, "-c", "import neighbour; print(neighbour.NAME)"], cwd="/")
    """)
    assert scurry_command("run", file).stdout == "next door\n"


def test_importing_pyflink_says_once_on_standard_error_what_it_is(program: Callable[[str], str]) -> None:
    done = scurry_command("run", program("import pyflink, pyflink.common.time; print(pyflink.__name__)"))
    assert done.stdout == "scurry\n"
    assert done.stderr == f"pyflink resolves to scurry {scurry.__version__}\n"


def test_a_program_without_pyflink_hears_nothing_of_it(program: Callable[[str], str]) -> None:
    assert scurry_command("run", program("import scurry")).stderr == ""


def test_settings_reach_the_environment_as_overrides(program: Callable[[str], str]) -> None:
    seen = options_seen_by(program, "-D", "pipeline.name=a=b", "-D", "x.y = 1")
    assert seen == "[('pipeline.name', 'a=b'), ('x.y', '1')]"


def test_named_options_reach_the_environment_as_overrides(program: Callable[[str], str]) -> None:
    seen = options_seen_by(
        program, "--parallelism", "3", "--mode", "batch", "--runner", "local", "--master", "local[2]"
    )
    assert dict(eval(seen)) == {
        "execution.runtime-mode": "BATCH",
        "parallelism.default": "3",
        "scurry.runner": "local",
        "spark.master": "local[2]",
    }


def test_a_setting_without_a_value_is_a_usage_error(program: Callable[[str], str]) -> None:
    done = scurry_command("run", "-D", "pipeline.name", program("print('ran')"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "key=value" in done.stderr


def test_the_exit_status_is_the_programs(program: Callable[[str], str]) -> None:
    assert scurry_command("run", program("raise SystemExit(7)")).returncode == 7


def test_a_programs_last_words_go_to_standard_error(program: Callable[[str], str]) -> None:
    done = scurry_command("run", program("raise SystemExit('no input')"))
    assert (done.returncode, done.stderr) == (1, "no input\n")


def test_an_error_of_scurry_is_its_message_and_the_line_that_led_there(program: Callable[[str], str]) -> None:
    file = program("from scurry.common.time import to_millis\n\nto_millis('soon')  # cause\n")
    done = scurry_command("run", file)
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert done.stderr.endswith(f"\n  at {file}:3: to_millis('soon')  # cause\n")
    assert "Traceback" not in done.stderr


def test_a_failed_job_is_its_message_alone(program: Callable[[str], str]) -> None:
    file = program("from scurry.errors import JobError\n\nraise JobError('map failed at rules.py:9')")
    done = scurry_command("run", file)
    assert (done.returncode, done.stderr) == (1, "error: map failed at rules.py:9\n")


def test_another_exception_is_a_traceback_of_the_program_only(program: Callable[[str], str]) -> None:
    file = program("def half(n):\n    return n / 0\n\nhalf(1)\n")
    done = scurry_command("run", file)
    assert done.returncode == 1
    assert done.stderr.startswith(f'Traceback (most recent call last):\n  File "{file}", line 4, in <module>\n')
    assert "runpy" not in done.stderr and "scurry/cli" not in done.stderr


def test_debug_shows_the_whole_traceback(program: Callable[[str], str]) -> None:
    done = scurry_command("run", "--debug", program("from scurry.errors import JobError\nraise JobError('x')"))
    assert done.returncode == 1
    assert "Traceback" in done.stderr and "program.py" in done.stderr and "scurry/cli" in done.stderr


def test_output_comes_before_the_error_it_led_to(program: Callable[[str], str]) -> None:
    file = program("print('first')\nraise ValueError")
    command = [sys.executable, "-m", "scurry", "run", file]
    environment = {key: value for key, value in ENVIRONMENT.items() if key != "PYTHONUNBUFFERED"}
    merged = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, env=environment)
    assert merged.stdout.splitlines()[0] == b"first"


def test_control_c_ends_with_status_130_after_the_program_has_cleaned_up(program: Callable[[str], str]) -> None:
    file = program("""
        import time
        try:
            print("ready")
            time.sleep(30)
        finally:
            print("stopped")
    """)
    command = [sys.executable, "-m", "scurry", "run", file]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    assert running.stdout is not None and running.stdout.readline() == "ready\n"
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=120)
    assert (running.returncode, out, err) == (130, "stopped\n", "interrupted\n")


def test_a_missing_program_is_a_usage_error() -> None:
    done = scurry_command("run", "nowhere.py")
    assert done.returncode == 2
    assert "nowhere.py" in done.stderr


def test_explain_asks_the_environment_for_the_plan_only(program: Callable[[str], str]) -> None:
    file = program("import scurry.common._process.launch; print(scurry.common._process.launch.current().explain_only)")
    assert scurry_command("explain", file).stdout == "True\n"
    assert scurry_command("run", file).stdout == "False\n"


@pytest.mark.parametrize("arguments", [["version"], ["--help"], ["run", "--help"]])
def test_commands_that_run_nothing_load_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import sys, scurry.cli\n"
        f"sys.argv = ['scurry', *{arguments!r}]\n"
        "try:\n    scurry.cli.main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'pyspark', 'pandas', 'pyarrow', 'numpy', 'scurry.datastream', 'scurry.runtime'}\n"
        "print('LOADED', sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env=ENVIRONMENT)
    assert done.stdout.endswith("LOADED []\n"), done.stderr


#: Modules that take longer to load than a small job to run, and that a job of records in this process does not need.
NOT_FOR_RECORDS = {
    *("pyspark", "py4j", "pandas", "pyarrow", "numpy", "sqlite3", "fastapi", "uvicorn", "pydantic", "rich", "typer"),
    *("asyncio", "email", "http.client", "importlib.metadata", "packaging", "ssl", "subprocess", "urllib.request"),
    *(
        "scurry.sql",
        "scurry.table",
        "scurry.cep",
        "scurry.spark",
        "scurry.cli.commands",
        "scurry.runtime.operators.rows",
    ),
}

#: The same for a query, which is computed on columns.
NOT_FOR_QUERIES = NOT_FOR_RECORDS - {"numpy", "pyarrow", "scurry.sql", "importlib.metadata", "email"}


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
def test_a_job_of_records_in_this_process_loads_nothing_that_it_does_not_need(mode: str, program: Any) -> None:
    file = program(
        "import sys\n"
        "from pyflink.datastream import RuntimeExecutionMode, StreamExecutionEnvironment\n"
        "env = StreamExecutionEnvironment.get_execution_environment()\n"
        f"env.set_runtime_mode(RuntimeExecutionMode.{mode})\n"
        "words = env.from_collection(['to be', 'or not']).flat_map(str.split).map(lambda w: (w, 1))\n"
        "words.key_by(lambda w: w[0]).reduce(lambda a, b: (a[0], a[1] + b[1])).print()\n"
        "env.execute()\n"
        f"print('LOADED', sorted({NOT_FOR_RECORDS!r} & set(sys.modules)))"
    )
    done = scurry_command("run", "--runner", "local", file)
    assert "LOADED []\n" in done.stdout, done.stdout + done.stderr


def test_a_query_of_values_loads_nothing_that_it_does_not_need() -> None:
    code = (
        "import atexit, sys\n"
        f"atexit.register(lambda: print('LOADED', sorted({NOT_FOR_QUERIES!r} & set(sys.modules))))\n"
        "sys.argv = ['scurry', 'sql', '-e', \"SELECT a + 1, UPPER(b) FROM (VALUES (1, 'x'), (2, 'y')) AS t (a, b)\"]\n"
        "import scurry.cli\n"
        "scurry.cli.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env=ENVIRONMENT)
    assert done.stdout.endswith("LOADED []\n"), done.stdout + done.stderr


def test_version_names_the_api_and_spark() -> None:
    done = scurry_command("version")
    assert done.stdout.startswith(f"scurry {scurry.__version__} (API of PyFlink 2.3.0, pyspark ")


@pytest.mark.parametrize("command", [["run"], ["sql"], ["gateway"], ["session", "start"]])
def test_a_runner_that_there_is_not_is_a_usage_error(command: list[str]) -> None:
    done = CliRunner().invoke(app, [*command, "--runner", "flink"])
    assert done.exit_code == 2
    assert "'flink' is not one of 'spark', 'local'" in re.sub(r"[│\s]+", " ", done.output)


@pytest.mark.parametrize("command", [["sql", "-e", "SELECT 1"], ["gateway"]])
def test_a_misspelt_setting_of_a_sql_session_names_the_one_that_is_meant(
    command: list[str],
) -> None:
    done = CliRunner().invoke(app, [*command, "-D", "parallelism.defualt=3"])
    assert done.exit_code == 2
    assert "is unknown: did you mean parallelism.default?" in re.sub(r"[│\s]+", " ", done.output)


@pytest.mark.filterwarnings("default")
def test_a_setting_of_a_sql_session_without_effect_is_noted_without_a_place_in_scurrys_code() -> None:
    done = CliRunner().invoke(app, ["sql", "-e", "SET 'foo' = 'bar'"])
    assert "[WARNING] configuration without effect: foo (neither Flink nor scurry has it)\n" in done.output


def test_the_help_has_the_commands_in_groups_with_what_new_users_need_first() -> None:
    shown = CliRunner().invoke(app, ["--help"]).output
    places = [shown.index(group) for group in Group]
    assert places == sorted(places)
    assert places[0] < shown.index(" run ") < shown.index(" sql ") < places[1]


def test_every_option_of_a_value_says_its_default_or_that_there_is_none() -> None:
    """An option that only acts when it is given, as a savepoint to start from, needs no default."""
    without = {"-D", "--from-savepoint", "--final-savepoint", "--python", "--pyModule", "--pyFiles", "--pyArchives",
               "--pyRequirements", "--pyExecutable", "--pyClientExecutable", "--pyPythonPath", "--session", "--url",
               "--execute", "--file", "--init", "--endpoint"}  # fmt: skip
    unclear = set()
    commands: list[Any] = [typer.main.get_command(app)]
    for command in commands:
        commands += getattr(command, "commands", {}).values()
        for option in command.params:
            if option.param_type_name != "option" or option.is_flag or option.required or option.default is not None:
                continue
            if "default" not in (option.help or "") and not without & set(option.opts):
                unclear.add((command.name, option.opts[0]))
    assert unclear == set()
