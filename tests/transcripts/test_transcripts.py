"""Every script of time gives what it says, on every runner.

The harness looks at the pipeline after every step. The other runners show what came out altogether: in-process in the
script's own micro-batches and with one step in each; on Spark, whose clock cannot be set, all scripts that do not move
it are one job. BATCH knows no watermarks before the end, so only scripts that say what they give there are run.
"""

from __future__ import annotations

import pytest

from support.transcripts import harness_runner, scripts
from support.transcripts.job_runner import Run
from support.transcripts.scripts import SCRIPTS_DIRECTORY, Script

SCRIPTS = scripts.load()
WRONG = scripts.load(SCRIPTS_DIRECTORY / "wrong")
IN_BATCH = [script for script in SCRIPTS if script.batch_results is not None]
ON_SPARK = [script for script in SCRIPTS if not script.moves_the_clock]


def by_name(script: Script) -> str:
    return script.name


@pytest.mark.parametrize("script", SCRIPTS, ids=by_name)
def test_in_the_harness(script: Script) -> None:
    harness_runner.play(script)


@pytest.mark.parametrize("script", WRONG, ids=by_name)
def test_a_wrong_script_is_found_out(script: Script) -> None:
    with pytest.raises(AssertionError, match=script.spec["name"]):
        harness_runner.play(script)


@pytest.mark.parametrize("one_step_each", [False, True], ids=["few batches", "many batches"])
@pytest.mark.parametrize("script", SCRIPTS, ids=by_name)
def test_in_process_streaming(script: Script, one_step_each: bool) -> None:
    run = Run("local", "STREAMING", [script], one_step_each).execute()
    run.check(script, script.results)
    run.check_late(script)


@pytest.mark.parametrize("script", IN_BATCH, ids=by_name)
def test_in_process_batch(script: Script) -> None:
    run = Run("local", "BATCH", [script]).execute()
    assert script.batch_results is not None
    run.check(script, script.batch_results)


@pytest.mark.spark
def test_on_spark_streaming() -> None:
    run = Run("spark", "STREAMING", ON_SPARK).execute()
    for script in ON_SPARK:
        run.check(script, script.results)
        run.check_late(script)


@pytest.mark.spark
def test_on_spark_batch() -> None:
    run = Run("spark", "BATCH", IN_BATCH).execute()
    for script in IN_BATCH:
        assert script.batch_results is not None
        run.check(script, script.batch_results)


def test_there_are_scripts_for_everything() -> None:
    """At least 60 of them, with names of their own, most of them on Spark and in BATCH as well."""
    assert len({script.name for script in SCRIPTS}) == len(SCRIPTS) >= 60
    assert len(ON_SPARK) >= 60
    assert len(IN_BATCH) >= 40
    assert len(WRONG) >= 5
