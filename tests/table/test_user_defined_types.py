"""Types of users' objects, and types that no column can have; the answers are those of PyFlink 2.3."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from scurry.errors import ArgumentTypeError, JobError, MissingAttributeError, TypeMismatchError
from scurry.table import DataTypes, EnvironmentSettings, Row, Schema, TableDescriptor, TableEnvironment, UserDefinedType
from scurry.table.expressions import col, lit
from scurry.table.types import DataType, ZonedTimestampType
from scurry.table.udf import udf


class PointType(UserDefinedType):
    @classmethod
    def sql_type(cls) -> DataType:
        return DataTypes.ARRAY(DataTypes.DOUBLE(False))

    @classmethod
    def module(cls) -> str:
        return __name__

    def serialize(self, obj: Any) -> Any:
        return [obj.x, obj.y]

    def deserialize(self, datum: Any) -> Point:
        return Point(*datum)


class Point:
    __UDT__ = PointType()

    def __init__(self, x: Any, y: float) -> None:
        self.x = x
        self.y = y


class DayType(UserDefinedType):
    @classmethod
    def sql_type(cls) -> DataType:
        return DataTypes.ROW([DataTypes.FIELD("x", DataTypes.DOUBLE()), DataTypes.FIELD("d", DataTypes.DATE())])

    def serialize(self, obj: Any) -> Any:
        return (obj.x, obj.d)


class Day:
    __UDT__ = DayType()

    def __init__(self, x: float, d: datetime.date | None) -> None:
        self.x = x
        self.d = d


P = Point(1.0, 2.0)
POINT = "ARRAY<DOUBLE NOT NULL>"


@pytest.fixture
def t_env() -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    made.get_config().set("scurry.runner", "local")
    return made


def columns(second: DataType) -> DataType:
    return DataTypes.ROW([DataTypes.FIELD("a", DataTypes.BIGINT()), DataTypes.FIELD("p", second)])


@pytest.mark.parametrize(
    ("value", "declared", "shown", "expected"),
    [
        (P, PointType(), POINT, [1.0, 2.0]),
        (None, PointType(), POINT, None),
        ([P, P], DataTypes.ARRAY(PointType()), f"ARRAY<{POINT}>", [[1.0, 2.0], [1.0, 2.0]]),
        ({"k": P}, DataTypes.MAP(DataTypes.STRING(), PointType()), f"MAP<STRING, {POINT}>", {"k": [1.0, 2.0]}),
        ((P,), DataTypes.ROW([DataTypes.FIELD("q", PointType())]), f"ROW<`q` {POINT}>", Row([1.0, 2.0])),
        (P, PointType().not_null(), POINT, [1.0, 2.0]),
        (P, None, POINT, [1.0, 2.0]),
        ([P], None, f"ARRAY<{POINT}>", [[1.0, 2.0]]),
        (Day(1.0, datetime.date(2020, 1, 2)), None, "ROW<`x` DOUBLE, `d` DATE>", Row(1.0, datetime.date(2020, 1, 2))),
    ],
)
def test_objects_are_serialized_to_their_sql_type(
    t_env: TableEnvironment, value: Any, declared: DataType | None, shown: str, expected: Any
) -> None:
    table = t_env.from_elements([(1, value)], ["a", "p"] if declared is None else columns(declared))
    assert table.get_schema().get_field_data_type("p").as_summary_string() == shown  # type: ignore[union-attr]
    assert list(table.execute().collect()) == [Row(1, expected)]


def test_a_single_column_of_objects(t_env: TableEnvironment) -> None:
    assert list(t_env.from_elements([P, P], PointType()).execute().collect()) == [Row([1.0, 2.0])] * 2


@pytest.mark.parametrize("value", [Day(1.0, None), "x", Point("a", 2.0)])
def test_objects_of_other_types_are_refused(t_env: TableEnvironment, value: Any) -> None:
    with pytest.raises(TypeMismatchError, match="field p"):
        t_env.from_elements([(1, value)], columns(PointType()))


def test_functions_get_and_return_values_of_the_sql_type(t_env: TableEnvironment) -> None:
    moved = udf(lambda p: [p[0] + 1, p[1]], result_type=PointType(), input_types=[PointType()])
    table = t_env.from_elements([(1, P)], ["a", "p"]).select(moved(col("p")), col("p").cast(PointType()))
    assert list(table.execute().collect()) == [Row([2.0, 2.0], [1.0, 2.0])]


def test_a_schema_shows_the_sql_type() -> None:
    assert str(Schema.new_builder().column("p", PointType()).build()) == f"(\n  `p` {POINT}\n)"


def test_objects_are_no_literals(t_env: TableEnvironment) -> None:
    with pytest.raises(ArgumentTypeError, match="a literal is a plain value"):
        lit(P, PointType().not_null())


def test_an_incomplete_type_names_the_missing_method() -> None:
    with pytest.raises(NotImplementedError, match=r"must implement serialize\(\)"):
        UserDefinedType().serialize(P)
    with pytest.raises(NotImplementedError, match=r"must implement sql_type\(\)"):
        UserDefinedType.sql_type()


def test_methods_for_java_say_so() -> None:
    with pytest.raises(MissingAttributeError, match="converts values for Java"):
        DataTypes.DATE().to_sql_type  # type: ignore[attr-defined]  # noqa: B018


def test_timestamps_with_a_zone_are_declared_but_not_run(t_env: TableEnvironment) -> None:
    schema = Schema.new_builder().column("p", ZonedTimestampType(3)).build()
    assert str(schema) == "(\n  `p` TIMESTAMP(3) WITH TIME ZONE\n)"
    t_env.create_temporary_table("t", TableDescriptor.for_connector("datagen").schema(schema).build())
    with pytest.raises(JobError, match="use TIMESTAMP_LTZ"):
        list(t_env.from_path("t").execute().collect())
    with pytest.raises(TypeMismatchError, match="there are no Python values of"):
        t_env.from_elements(
            [(datetime.datetime(2020, 1, 1),)], DataTypes.ROW([DataTypes.FIELD("a", ZonedTimestampType())])
        )
