"""SQL types: equality, texts, rows, and what they are in a stream."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from scurry.common import Types
from scurry.common.typeinfo import LocalTimeTypeInfo
from scurry.errors import ArgumentError, ArgumentTypeError
from scurry.sql.types import RawType
from scurry.sql.values.type_information import to_type_info
from scurry.table import DataTypes
from scurry.table.types import RowField, RowType, create_arrow_schema, from_arrow_type, to_arrow_type


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
        (DataTypes.TIMESTAMP(), LocalTimeTypeInfo(LocalTimeTypeInfo.TimeType.LOCAL_DATE_TIME)),
        (DataTypes.TIMESTAMP_LTZ(), Types.INSTANT()),
        (DataTypes.ARRAY(DataTypes.FLOAT()), Types.OBJECT_ARRAY(Types.FLOAT())),
        (DataTypes.MULTISET(DataTypes.STRING()), Types.MAP(Types.STRING(), Types.INT())),
        (
            DataTypes.ROW([DataTypes.FIELD("m", DataTypes.MAP(DataTypes.INT(), DataTypes.BOOLEAN()))]),
            Types.ROW_NAMED(["m"], [Types.MAP(Types.INT(), Types.BOOLEAN())]),
        ),
    ],
)
def test_types_have_type_information(data_type: Any, type_info: Any) -> None:
    assert to_type_info(data_type) == type_info


def test_values_without_a_type_have_no_type_information() -> None:
    with pytest.raises(ArgumentTypeError, match="declare the type of the stream"):
        to_type_info(RawType("[B"))


ARROW = [
    # what from_arrow_type of PyFlink 2.3 makes of a type, and to_arrow_type of that
    (pa.bool_(), DataTypes.BOOLEAN(), pa.bool_()),
    (pa.int8(), DataTypes.TINYINT(), pa.int8()),
    (pa.int64(), DataTypes.BIGINT(), pa.int64()),
    (pa.float32(), DataTypes.FLOAT(), pa.float32()),
    (pa.decimal128(10, 3), DataTypes.DECIMAL(10, 3), pa.decimal128(10, 3)),
    (pa.string(), DataTypes.STRING(), pa.string()),
    (pa.binary(3), DataTypes.BINARY(3), pa.binary(3)),
    (pa.binary(), DataTypes.BYTES(), pa.binary()),
    (pa.date32(), DataTypes.DATE(), pa.date32()),
    (pa.time32("s"), DataTypes.TIME(0), pa.time32("s")),
    (pa.time32("ms"), DataTypes.TIME(3), pa.time32("ms")),
    (pa.time64("us"), DataTypes.TIME(6), pa.time64("us")),
    (pa.time64("ns"), DataTypes.TIME(9), pa.time64("ns")),
    (pa.timestamp("s"), DataTypes.TIMESTAMP(0), pa.timestamp("s")),
    (pa.timestamp("us", "UTC"), DataTypes.TIMESTAMP(6), pa.timestamp("us")),
    (pa.list_(pa.int32()), DataTypes.ARRAY(DataTypes.INT()), pa.list_(pa.int32())),
    (
        pa.map_(pa.string(), pa.int16()),
        DataTypes.MAP(DataTypes.STRING(), DataTypes.SMALLINT()),
        pa.map_(pa.string(), pa.int16()),
    ),
    (
        pa.struct([pa.field("a", pa.int32(), False), pa.field("b", pa.string())]),
        DataTypes.ROW([DataTypes.FIELD("a", DataTypes.INT(False)), DataTypes.FIELD("b", DataTypes.STRING())]),
        pa.struct([pa.field("a", pa.int32(), False), pa.field("b", pa.string())]),
    ),
    (pa.null(), DataTypes.NULL(), pa.null()),
]


@pytest.mark.parametrize(("arrow", "data_type", "back"), ARROW, ids=lambda each: str(each)[:30])
def test_types_of_arrow_are_sql_types(arrow: pa.DataType, data_type: Any, back: pa.DataType) -> None:
    assert from_arrow_type(arrow) == data_type
    assert to_arrow_type(data_type) == back


def test_types_of_arrow_may_lack_null() -> None:
    assert from_arrow_type(pa.int32(), False) == DataTypes.INT(False)


@pytest.mark.parametrize(
    ("convert", "error"),
    [
        (lambda: from_arrow_type(pa.struct([("a", pa.struct([("b", pa.int8())]))])), TypeError),
        (lambda: from_arrow_type(pa.duration("s")), TypeError),
        (lambda: to_arrow_type(DataTypes.ARRAY(DataTypes.TIMESTAMP_LTZ(3))), ValueError),
        (lambda: to_arrow_type(DataTypes.ROW([DataTypes.FIELD("a", DataTypes.ROW([]))])), TypeError),
        (lambda: to_arrow_type(DataTypes.MULTISET(DataTypes.INT())), ValueError),
    ],
)
def test_types_that_pyflink_does_not_convert_are_refused(convert: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        convert()


def test_a_schema_of_arrow_has_the_nullability_of_the_types() -> None:
    found = create_arrow_schema(["a", "b"], [DataTypes.INT(False), DataTypes.TIMESTAMP_LTZ(3)])
    assert found == pa.schema([pa.field("a", pa.int32(), False), pa.field("b", pa.timestamp("ms"))])
