"""Every public method is called by a program of examples/reference: the programs are run, and their calls recorded."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from support.docs.examples import ON_SPARK, PROGRAMS, WITH_KAFKA, WITHOUT_EXAMPLE, calls_of, public_methods, statements

called = functools.cache(calls_of)


@pytest.mark.parametrize("program", PROGRAMS, ids=[program.stem for program in PROGRAMS])
def test_a_program_runs_and_calls_what_the_reference_lists(program: Path) -> None:
    assert set(called(program)) & set(public_methods())


#: What the programs of examples/reference/servers show, which need a JVM.
OF_SPARK = {
    "DataStream.to_spark", "SavepointReader.keyed_state_frame", "SavepointReader.read_keyed_state_frame",
    "SavepointReader.timers_frame", "SavepointReader.window_state_frame", "StreamExecutionEnvironment.from_spark",
    "Table.to_spark", "TableEnvironment.from_spark",
}  # fmt: skip
OF_KAFKA = {"KafkaBroker.kill", "KafkaBroker.start", "KafkaBroker.stop", "fetch"}


def test_every_public_method_has_an_example_but_those_on_the_list() -> None:
    with_example = set().union(*(called(program) for program in PROGRAMS))
    assert set(public_methods()) - with_example == set(WITHOUT_EXAMPLE) | OF_SPARK | OF_KAFKA


def test_the_site_gets_the_statement_of_each_method() -> None:
    found = statements(called)
    program, statement = found["scurry.table.table_environment.TableEnvironment.execute_sql"]
    assert "execute_sql(" in statement and statement in (PROGRAMS[0].parent / program).read_text(encoding="utf-8")
    assert len(found) > 500


@pytest.mark.spark
def test_dataframes_have_an_example_on_spark() -> None:
    assert set(calls_of(ON_SPARK, "spark")) >= OF_SPARK


@pytest.mark.kafka
def test_the_broker_for_tests_has_an_example() -> None:
    assert set(calls_of(WITH_KAFKA)) >= OF_KAFKA


def test_a_method_that_is_named_but_not_called_does_not_count(tmp_path: Path) -> None:
    program = tmp_path / "named.py"
    program.write_text("from scurry.common import Row\nrow = Row(a=1)\nif not row:\n    row.as_dict()\nrow.as_dict\n")
    assert calls_of(program) == {}
