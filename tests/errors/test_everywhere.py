"""A failing program shows the same few lines wherever it runs: `scurry run`, plain Python, pytest, Jupyter."""

from __future__ import annotations

import logging
import os
import pickle
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from scurry.cli.program import run_program
from scurry.common import Configuration
from scurry.common._process.launch import LaunchOptions
from scurry.datastream import StreamExecutionEnvironment
from scurry.errors import ArgumentTypeError, JobError, ScurryError
from scurry.errors.user_frames import is_internal, only_user_frames

SETUP = """
from scurry.common import Configuration
from scurry.datastream import StreamExecutionEnvironment

configuration = Configuration.from_dict({"scurry.runner": "RUNNER", "scurry.progress": "off"})
env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(1)
"""

PROGRAM = """
def invert(value):
    return 1 / value


env.from_collection([2, 0, 1]).map(invert).name("invert").print()
env.execute("doomed")
"""

EXPECTED = """
Job 'doomed' failed.
ZeroDivisionError: division by zero
  at FILE:LINE in invert: return 1 / value
  in operator 'invert' built at FILE:LINE
  record: 0
""".strip()


def message_in(text: str) -> str:
    """The error's own lines, without places and what the surroundings put before them."""
    lines = text[text.index("Job 'doomed' failed.") :].splitlines()[:5]
    return re.sub(r"(\S+\.py|In\[\d+\]):\d+", "FILE:LINE", "\n".join(lines))


def run(*command: str, directory: Path) -> str:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}
    environment["IPYTHONDIR"] = str(directory)
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, timeout=120, cwd=directory, env=environment
    )
    return done.stdout + done.stderr


def write(directory: Path, text: str, name: str = "program.py") -> Path:
    file = directory / name
    file.write_text(text.replace("RUNNER", "local"), encoding="utf-8")
    return file


# ------------------------------------------------------------------ the four places


def test_scurry_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(write(tmp_path, SETUP + PROGRAM), [], LaunchOptions(), debug=False) == 1
    text = capsys.readouterr().err
    assert message_in(text) == EXPECTED
    assert len(text.splitlines()) == 5


def test_plain_python(tmp_path: Path) -> None:
    write(tmp_path, SETUP + PROGRAM)
    text = run("program.py", directory=tmp_path)
    assert message_in(text) == EXPECTED
    # Python's own head, the user's line and the method that was called.
    assert len(text.splitlines()) <= 10, text
    assert 'File "<scurry>"' in text and "src/scurry" not in text


def test_pytest(tmp_path: Path) -> None:
    write(tmp_path, SETUP + "\n\ndef test_it():" + textwrap.indent(PROGRAM, "    "), "test_program.py")
    text = run("-m", "pytest", "-q", "-p", "no:cacheprovider", directory=tmp_path)
    shown = textwrap.dedent("\n".join(line[1:] for line in text.splitlines() if line.startswith("E ")))
    assert message_in(shown) == EXPECTED
    assert "env.execute(" in text and "src/scurry" not in text
    assert len(text.splitlines()) < 35, text  # with what the job has logged


IPYTHON = """
import sys
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
for cell in sys.argv[1:]:
    shell.run_cell(cell, store_history=True)
"""


def in_ipython(directory: Path, *cells: str) -> str:
    pytest.importorskip("IPython")
    return run("-c", IPYTHON, *cells, directory=directory)


def test_ipython(tmp_path: Path) -> None:
    text = in_ipython(tmp_path, SETUP.replace("RUNNER", "local"), PROGRAM)
    assert message_in(text) == EXPECTED
    assert "at In[2]:2 in invert" in text and "built at In[2]:5" in text
    assert len(text.splitlines()) == 5, text


@pytest.mark.spark
def test_ipython_on_spark_where_workers_have_no_source_of_cells(tmp_path: Path) -> None:
    text = in_ipython(tmp_path, SETUP.replace("RUNNER", "spark"), PROGRAM)
    assert message_in(text) == EXPECTED
    assert "at In[2]:2 in invert: return 1 / value" in text
    assert "py4j" not in text and "Traceback" not in text


# ------------------------------------------------------------------ what leaves a public method


def failing() -> StreamExecutionEnvironment:
    configuration = Configuration.from_dict({"scurry.runner": "local"})
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.from_collection([0]).map(lambda value: 1 / value).print()
    return env


def frames_of(error: BaseException) -> list[str]:
    files, trace = [], error.__traceback__
    while trace is not None:
        files.append(trace.tb_frame.f_code.co_filename)
        trace = trace.tb_next
    return files


def test_no_frame_of_scurry_but_the_public_method_is_in_the_traceback() -> None:
    with pytest.raises(JobError) as caught:
        failing().execute("doomed")
    assert frames_of(caught.value) == [__file__, "<scurry>"]
    assert caught.value.__cause__ is None and caught.value.__suppress_context__


def test_the_cause_and_the_whole_story_are_kept() -> None:
    with pytest.raises(JobError) as caught:
        failing().execute("doomed")
    assert isinstance(caught.value.cause, ScurryError)
    assert "stateless.py" in caught.value.details and "ZeroDivisionError" in caught.value.details


def test_the_whole_story_is_logged_for_debugging(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="scurry"), pytest.raises(JobError):
        failing().execute("doomed")
    assert "stateless.py" in caplog.text


def test_a_client_raises_it_without_inner_frames_every_time() -> None:
    client = failing().execute_async("doomed")
    for _ in range(2):
        with pytest.raises(JobError) as caught:
            client.get_job_execution_result().result()
        assert frames_of(caught.value) == [__file__, "<scurry>"]


def test_iterating_over_results_raises_it_without_inner_frames() -> None:
    configuration = Configuration.from_dict({"scurry.runner": "local"})
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    with pytest.raises(JobError) as caught, env.from_collection([0]).map(lambda v: 1 / v).execute_and_collect() as all:
        next(all)
    assert frames_of(caught.value) == [__file__, "<scurry>"]


def test_the_line_that_made_a_mistake_is_the_last_of_the_user() -> None:
    with pytest.raises(ArgumentTypeError) as caught:
        failing().from_collection([1]).filter("even")  # type: ignore[arg-type]  # cause
    assert re.search(r"\n  at .*test_everywhere\.py:\d+: \S.*$", caught.value.report())


def test_what_the_user_calls_below_scurry_stays_in_the_traceback() -> None:
    def numbers() -> Any:
        yield 1
        raise ArgumentTypeError("no more")

    with pytest.raises(ArgumentTypeError) as caught:
        failing().from_collection(numbers())
    assert frames_of(caught.value) == [__file__, "<scurry>", __file__]


def test_other_errors_keep_their_traceback() -> None:
    def numbers() -> Any:
        yield 1 / 0

    with pytest.raises(ZeroDivisionError) as caught:
        failing().from_collection(numbers())
    assert frames_of(caught.value)[-1] == __file__


def test_an_error_with_its_story_can_be_pickled() -> None:
    with pytest.raises(JobError) as caught:
        failing().execute("doomed")
    assert pickle.loads(pickle.dumps(caught.value)).details == caught.value.details


def test_frames_of_the_library_below_scurry_are_not_the_users() -> None:
    try:
        failing()._configuration.get_integer("scurry.nothing", "x")  # type: ignore[arg-type]
        sorted([1], key=lambda value: re.compile("("))  # type: ignore[arg-type, return-value]
    except Exception as error:
        shown = only_user_frames(error.__traceback__)
        assert shown is not None and not is_internal(shown.tb_frame.f_code.co_filename)
