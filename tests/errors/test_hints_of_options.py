"""Misspelt connectors, formats and options: Flink's message lists all there are, a hint names the one that is meant."""

from __future__ import annotations

import pickle

import pytest

from scurry.errors import ValidationError
from scurry.errors.base import HINT
from support.statements.tables import environment

PATH = "'connector'='filesystem', 'path'='/nowhere'"


def notes(error: BaseException) -> list[str]:
    return [note for note in getattr(error, "__notes__", []) if note.startswith(HINT)]


def refusal(statement: str, *, reads: bool = True) -> ValidationError:
    env = environment()
    with pytest.raises(ValidationError) as refused:
        env.execute_sql(statement)
        if reads:
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


def test_what_is_like_nothing_has_no_hint() -> None:
    assert notes(refusal("CREATE TABLE t (a INT) WITH ('connector'='nothing-like-it')")) == []


def test_hints_survive_pickling() -> None:
    error = refusal("CREATE TABLE t (a INT) WITH ('connector'='kafkaa')")
    assert notes(pickle.loads(pickle.dumps(error))) == notes(error) != []
