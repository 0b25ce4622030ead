"""SQL types: equality, texts, rows, and what they are in a stream."""

from __future__ import annotations

from typing import Any

import pytest

from scurry.common import Types
from scurry.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from scurry.table import DataTypes
from scurry.table.type_conversion import to_type_info
from scurry.table.types import RowField, RowType


def test_types_are_equal_if_made_alike() -> None:
    assert DataTypes.VARCHAR(3) == DataTypes.VARCHAR(3)
    assert DataTypes.VARCHAR(3) != DataTypes.VARCHAR(4)
    assert DataTypes.INT() != DataTypes.INT(nullable=False)
    assert DataTypes.INT() != DataTypes.BIGINT()
    assert hash(DataTypes.INT()) == hash(DataTypes.INT())


def test_types_can_lose_and_regain_null() -> None:
    assert DataTypes.INT().not_null() == DataTypes.INT(False)
    assert DataTypes.INT(False).nullable() == DataTypes.INT()


@pytest.mark.parametrize(
    ("data_type", "text"),
    # what PyFlink 2.3 shows
    [
        (DataTypes.INT(), "IntType(true)"),
        (DataTypes.STRING(), "VarCharType(2147483647, true)"),
        (DataTypes.DECIMAL(5, 2, False), "DecimalType(5, 2, false)"),
        (DataTypes.TIME(), "TimeType(0, true)"),
        (DataTypes.TIMESTAMP(3), "TimestampType(3, true)"),
        (DataTypes.TIMESTAMP_LTZ(), "LocalZonedTimestampType(6, true)"),
        (DataTypes.ARRAY(DataTypes.INT()), "ArrayType(IntType(true), true)"),
        (DataTypes.MAP(DataTypes.INT(), DataTypes.DATE()), "MapType(IntType(true), DateType(true), true)"),
        (DataTypes.MAP_VIEW(DataTypes.INT(), DataTypes.INT()), "MapViewType(IntType(true), IntType(true))"),
        (DataTypes.LIST_VIEW(DataTypes.INT()), "ListViewType(IntType(true))"),
        (DataTypes.ROW([DataTypes.FIELD("a", DataTypes.INT())]), "RowType(RowField(a, IntType(true), ...))"),
    ],
)
def test_types_show_what_they_were_made_with(data_type: Any, text: str) -> None:
    assert repr(data_type) == text


class TestRow:
    @pytest.fixture
    def row(self) -> RowType:
        return DataTypes.ROW([DataTypes.FIELD("a", DataTypes.INT())]).add("b", DataTypes.STRING())

    def test_is_a_sequence_of_fields(self, row: RowType) -> None:
        assert len(row) == 2
        assert [field.name for field in row] == row.field_names() == row.names == ["a", "b"]
        assert row.field_types() == [DataTypes.INT(), DataTypes.STRING()]

    def test_finds_fields(self, row: RowType) -> None:
        assert row["b"] == row[1] == RowField("b", DataTypes.STRING())
        assert row[1:].field_names() == ["b"]
        with pytest.raises(KeyError, match="no field 'c'"):
            row["c"]

    def test_refuses_fields_without_type(self, row: RowType) -> None:
        with pytest.raises(ArgumentError, match="'c' needs a DataType"):
            row.add("c")
        with pytest.raises(ArgumentTypeError, match="DataTypes.INT"):
            row.add("c", int)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "make",
    [
        lambda: DataTypes.DECIMAL(39, 0),
        lambda: DataTypes.DECIMAL(5, 6),
        lambda: DataTypes.CHAR(0),
        lambda: DataTypes.TIMESTAMP(10),
        lambda: DataTypes.INTERVAL(DataTypes.SECOND(), DataTypes.DAY()),
        lambda: DataTypes.INTERVAL(DataTypes.YEAR(5)),
        lambda: DataTypes.INTERVAL(DataTypes.DAY(7)),
    ],
)
def test_impossible_parameters_are_refused(make: Any) -> None:
    with pytest.raises(ArgumentError):
        make()


def test_intervals_have_the_precisions_of_their_resolutions() -> None:
    interval: Any = DataTypes.INTERVAL(DataTypes.DAY(3), DataTypes.SECOND(9))
    assert (interval.day_precision, interval.fractional_precision) == (3, 9)
    months: Any = DataTypes.INTERVAL(DataTypes.YEAR(4), DataTypes.MONTH())
    assert (months.precision, months.resolution) == (4, months.YearMonthResolution.YEAR_TO_MONTH)


@pytest.mark.parametrize(
    ("data_type", "type_info"),
    [
        (DataTypes.CHAR(3), Types.STRING()),
        (DataTypes.BYTES(), Types.PRIMITIVE_ARRAY(Types.BYTE())),
        (DataTypes.TINYINT(), Types.BYTE()),
        (DataTypes.DECIMAL(5, 2), Types.BIG_DEC()),
        (DataTypes.TIMESTAMP(), Types.SQL_TIMESTAMP()),
        (DataTypes.TIMESTAMP_LTZ(), Types.INSTANT()),
        (DataTypes.ARRAY(DataTypes.FLOAT()), Types.LIST(Types.FLOAT())),
        (DataTypes.MULTISET(DataTypes.STRING()), Types.MAP(Types.STRING(), Types.INT())),
        (
            DataTypes.ROW([DataTypes.FIELD("m", DataTypes.MAP(DataTypes.INT(), DataTypes.BOOLEAN()))]),
            Types.ROW_NAMED(["m"], [Types.MAP(Types.INT(), Types.BOOLEAN())]),
        ),
    ],
)
def test_types_have_type_information(data_type: Any, type_info: Any) -> None:
    assert to_type_info(data_type) == type_info


@pytest.mark.parametrize("data_type", [DataTypes.NULL(), DataTypes.INTERVAL(DataTypes.SECOND())])
def test_types_of_sql_only_have_none(data_type: Any) -> None:
    with pytest.raises(UnsupportedError, match="tables only"):
        to_type_info(data_type)
