"""Misspelt connectors, formats and options: the cause comes first; a hint names what is meant, or what there is."""

from __future__ import annotations

import pickle
import re

import pytest

from scurry.errors import ValidationError
from scurry.errors.base import HINT
from scurry.sql.connectors.factories import CONNECTORS
from scurry.sql.formats.registry import FORMATS
from support.statements.tables import environment

#: Most lines of a message: the cause, at most two lines around it, and the table.
MOST_LINES = 4

PATH = "'connector'='filesystem', 'path'='/nowhere'"


def notes(error: BaseException) -> list[str]:
    return [note for note in getattr(error, "__notes__", []) if note.startswith(HINT)]


def refusal(statement: str, *, reads: bool = True, writes: bool = False) -> ValidationError:
    env = environment()
    with pytest.raises(ValidationError) as refused:
        env.execute_sql(statement)
        if writes:
            env.execute_sql("INSERT INTO t SELECT 1")
        elif reads:
            env.execute_sql("SELECT * FROM t")
    return refused.value


@pytest.mark.parametrize(
    ("options", "given", "meant"),
    [
        ("'connector'='kafkaa'", "kafkaa", "kafka"),
        (f"{PATH}, 'format'='csvv'", "csvv", "csv"),
        (f"{PATH}, 'format'='csv', 'csv.field-delimeter'=';'", "csv.field-delimeter", "csv.field-delimiter"),
        ("'connector'='datagen', 'row-per-second'='1'", "row-per-second", "rows-per-second"),
    ],
)
def test_what_is_meant_in_a_table_is_named_below_the_list(options: str, given: str, meant: str) -> None:
    error = refusal(f"CREATE TABLE t (a INT) WITH ({options})")
    assert notes(error) == [f"  hint: did you mean '{meant}' instead of '{given}'?"]
    assert notes(error)[0] in error.report().splitlines()
    assert "hint" not in str(error)


def test_so_it_is_for_catalogs() -> None:
    error = refusal("CREATE CATALOG c WITH ('type'='icebreg')", reads=False)
    assert notes(error) == ["  hint: did you mean 'iceberg' instead of 'icebreg'?"]


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        (
            "'connector'='nothing-like-it'",
            "the connectors are blackhole, cassandra, clickhouse, datagen, delta, ",
        ),
        (
            f"{PATH}, 'format'='qqq'",
            "the formats are avro, avro-confluent, canal-json, csv, debezium-json, json, maxwell-json, ogg-json, orc, "
            "parquet, protobuf, raw",
        ),
        (
            "'connector'='print', 'qqq'='1'",
            "the options of 'print' are connector, print-identifier, property-version, standard-error",
        ),
        (
            f"{PATH}, 'format'='csv', 'csv.qqq'='1'",
            "the options of 'filesystem' are csv.allow-comments, csv.array-element-delimiter",
        ),
    ],
)  # fmt: skip
def test_what_is_like_nothing_has_a_list_of_those_of_its_kind(options: str, hint: str) -> None:
    (note,) = notes(refusal(f"CREATE TABLE t (a INT) WITH ({options})", writes=True))
    assert note.startswith(f"  hint: {hint}")


def test_a_long_list_is_cut() -> None:
    options = "'connector'='kafka', 'topic'='t', 'properties.bootstrap.servers'='h:1', 'format'='json', 'qqq'='1'"
    (note,) = notes(refusal(f"CREATE TABLE t (a INT) WITH ({options})"))
    assert (
        re.search(r" are connector, format, property-version, topic, .* and \d+ more$", note) and note.count(",") == 11
    )  # noqa: PLR2004


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ("'connector'='filesystem', 'format'='csv', 'pfad'='/x'", "did you mean 'path' instead of 'pfad'?"),
        ("'connector'='filesystem', 'format'='csv'", "add to WITH (...): 'path' = '...'"),
        ("'connector'='jdbc'", "add to WITH (...): 'table-name' = '...', 'url' = '...'"),
        (
            "'connector'='jdbc', 'qq'='1'",
            "add to WITH (...): 'table-name' = '...', 'url' = '...'; there is no option 'qq'",
        ),
        (f"{PATH}, 'format'='avro-confluent'", "add to WITH (...): 'avro-confluent.url' = '...'"),
        (
            f"{PATH}, 'format'='avro-confluent', 'avro-confluent.address'='x'",
            "did you mean 'avro-confluent.url' instead of 'avro-confluent.address'?",
        ),
    ],
)  # fmt: skip
def test_an_option_that_is_missing_is_given_as_it_is_written(options: str, hint: str) -> None:
    assert notes(refusal(f"CREATE TABLE t (a INT) WITH ({options})")) == [f"  hint: {hint}"]


def test_several_misspelt_options_have_one_hint() -> None:
    error = refusal("CREATE TABLE t (a INT) WITH ('connector'='datagen', 'row-per-second'='1', 'numbr-of-rows'='2')")
    assert notes(error) == [
        "  hint: did you mean 'number-of-rows' instead of 'numbr-of-rows' and 'rows-per-second' instead of "
        "'row-per-second'?"
    ]


def connectors() -> list[str]:
    return sorted(CONNECTORS)


@pytest.mark.parametrize("connector", connectors())
@pytest.mark.parametrize("writes", [False, True])
def test_the_cause_comes_first_for_every_connector(connector: str, writes: bool) -> None:
    """The options of the table are not repeated: they are the user's own."""
    error = refusal(f"CREATE TABLE t (a INT) WITH ('connector'='{connector}', 'qqq'='1')", writes=writes)
    lines = str(error).splitlines()
    assert not lines[0].startswith("Unable to create") and len(lines) <= MOST_LINES, lines
    assert "'qqq'='1'" not in str(error)
    assert len(notes(error)) == 1


@pytest.mark.parametrize("format", sorted(FORMATS))
def test_the_cause_comes_first_for_every_format(format: str) -> None:
    error = refusal(f"CREATE TABLE t (a BYTES) WITH ({PATH}, 'format'='{format}', '{format}.qqq'='1')")
    lines = str(error).splitlines()
    assert lines[0] in ("Unsupported options found for 'filesystem'.", "One or more required options are missing.")
    assert len(lines) <= MOST_LINES and len(notes(error)) == 1


def test_hints_survive_pickling() -> None:
    error = refusal("CREATE TABLE t (a INT) WITH ('connector'='kafkaa')")
    assert notes(pickle.loads(pickle.dumps(error))) == notes(error) != []
