"""Streams of dataclasses as tables: fields have the columns that their annotations have everywhere."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field

import pytest

from scurry.datastream import StreamExecutionEnvironment
from scurry.errors import ValidationError
from scurry.table import StreamTableEnvironment


@dataclass
class Place:
    name: str
    height: float | None = None


@dataclass
class Visit:
    at: datetime.time
    places: list[Place] = field(default_factory=list)
    notes: dict[str, int] | None = None


@dataclass
class Opaque:
    value: complex


def test_fields_that_are_lists_dicts_and_dataclasses_are_columns() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    tables = StreamTableEnvironment.create(env)
    visits = [Visit(datetime.time(1, 2, 3, 4000), [Place("a", 1.5), Place("b")], {"n": 1}), Visit(datetime.time(4))]
    table = tables.from_data_stream(env.from_collection(visits, type_info=Visit))
    assert [each.as_summary_string() for each in table.get_resolved_schema().get_column_data_types()] == [
        "TIME(3)", "ARRAY<ROW<`name` STRING, `height` DOUBLE>>", "MAP<STRING, BIGINT>",
    ]  # fmt: skip
    tables.create_temporary_view("visits", table)
    tables.get_config().set("scurry.runner", "local")
    query = "SELECT `at`, places[1].name, places[2].height, notes['n'], CARDINALITY(places) FROM visits"
    assert [tuple(row) for row in tables.sql_query(query).execute().collect()] == [
        (datetime.time(1, 2, 3, 4000), "a", None, 1, 2),
        (datetime.time(4), None, None, None, 0),
    ]


def test_a_field_of_another_class_is_refused_by_name() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    tables = StreamTableEnvironment.create(env)
    with pytest.raises(ValidationError, match="attribute 'value' of Opaque has the type"):
        tables.from_data_stream(env.from_collection([Opaque(1j)], type_info=Opaque))
