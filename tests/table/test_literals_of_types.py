"""lit(value, type) takes values of the type alone; a datetime with a time zone is a point of time."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import pytest

from scurry.common.time import Instant
from scurry.errors import ArgumentTypeError, ValidationError
from scurry.sql.catalog.identifier import ObjectPath
from scurry.table import DataTypes, EnvironmentSettings, Expression, TableEnvironment
from scurry.table.expressions import array, call, col, lit

_EAST = datetime.timezone(datetime.timedelta(hours=8))
_AWARE = datetime.datetime(2026, 8, 3, 9, 0, 0, 123456, tzinfo=_EAST)
_VALUES: dict[type, Any] = {
    bool: True,
    int: 100,
    float: 1.5,
    str: "1",
    bytes: b"1",
    datetime.date: datetime.date(2024, 1, 1),
    datetime.time: datetime.time(1, 2),
    datetime.datetime: datetime.datetime(2024, 1, 1),
    datetime.timedelta: datetime.timedelta(seconds=1),
}
_TYPES: dict[str, tuple[type, ...]] = {
    "BOOLEAN": (bool,),
    "TINYINT": (int,),
    "INT": (int,),
    "BIGINT": (int,),
    "DOUBLE": (int, float),
    "STRING": (str,),
    "BYTES": (bytes,),
    "DATE": (datetime.date,),
    "TIME": (datetime.time,),
    "TIMESTAMP": (datetime.datetime,),
    "TIMESTAMP_LTZ": (datetime.datetime,),
}
_MADE = {"TIMESTAMP": (3,), "TIMESTAMP_LTZ": (3,)}


@pytest.fixture
def env() -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    made.get_config().set("scurry.runner", "local")
    return made


def values(env: TableEnvironment, *expressions: Expression) -> list[Any]:
    with env.from_elements([(1, "abc", True)], ["n", "s", "b"]).select(*expressions).execute().collect() as rows:
        return list(next(iter(rows)))


@pytest.mark.parametrize("name", _TYPES)
def test_a_literal_of_a_type_is_a_value_of_it(name: str) -> None:
    data_type = getattr(DataTypes, name)(*_MADE.get(name, ())).not_null()
    taken = []
    for kind, value in _VALUES.items():
        try:
            lit(value, data_type)
            taken.append(kind)
        except ValidationError as error:
            assert "does not support a value literal" in str(error)  # noqa: PT017
    assert tuple(taken) == _TYPES[name]


@pytest.mark.parametrize(
    ("value", "name"), [(128, "TINYINT"), (-32769, "SMALLINT"), (1 << 31, "INT"), (1 << 63, "BIGINT")]
)
def test_a_number_beyond_its_type_is_no_literal_of_it(value: int, name: str) -> None:
    with pytest.raises(ValidationError, match="does not support a value literal"):
        lit(value, getattr(DataTypes, name)().not_null())


def test_a_datetime_with_a_zone_is_its_instant(env: TableEnvironment) -> None:
    env.get_config().set("table.local-time-zone", "America/New_York")
    instant = Instant(1785718800, 123456000)
    ltz = DataTypes.TIMESTAMP_LTZ(6).not_null()
    assert values(env, lit(_AWARE), lit(_AWARE, ltz), lit(_AWARE) == lit(_AWARE.astimezone(datetime.UTC))) == [
        instant,
        instant,
        True,
    ]
    with pytest.raises(ValidationError):
        lit(_AWARE, DataTypes.TIMESTAMP(6).not_null())


def test_what_is_no_type_or_value_is_named() -> None:
    with pytest.raises(ArgumentTypeError, match="expected a type"):
        lit(1, "INT")  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match="time zone"):
        lit(datetime.time(1, tzinfo=datetime.UTC))
    with pytest.raises(TypeError):
        assert ObjectPath("a", "b") < 42


@pytest.mark.parametrize(
    ("made", "value"),
    [
        (lambda: call("sum0", col("n")), 1),
        (lambda: call("varPop", col("n")), 0),
        (lambda: call("stddevPop", col("n")), 0),
        (lambda: call("charLength", col("s")), 3),
        (lambda: call("ifThenElse", col("b"), 1, 2), 1),
        (lambda: call("toBase64", col("s")), "YWJj"),
        (lambda: call("equals", col("n"), 1), True),
        (lambda: call("minusPrefix", col("n")), -1),
        (lambda: call("isNull", col("n")), False),
        (lambda: call("splitIndex", col("s"), "b", 0), "a"),
        (lambda: call("currentDate").is_not_null, True),
        (lambda: call("regexpReplace", col("s"), "a", "x"), "xbc"),
        (lambda: call("plus", col("n"), col("n")), 2),
        (lambda: call("plus", col("s"), col("n")), "abc1"),
        (lambda: call("between", col("n"), 0, 2), True),
        (lambda: call("notBetween", col("n"), 0, 2), False),
        (lambda: call("in", col("n"), 1, 2), True),
        (lambda: call("at", array(7, 8), 1), 7),
        (lambda: call("upperCase", col("s")), "ABC"),
    ],
)
def test_functions_are_called_by_their_names_in_the_table_api(
    made: Callable[[], Expression], value: Any, env: TableEnvironment
) -> None:
    assert values(env, made()) == [value]


def test_a_cast_by_name_says_what_to_write(env: TableEnvironment) -> None:
    with pytest.raises(ValidationError, match=r"expression\.cast\(data_type\)"):
        values(env, call("cast", 1))
