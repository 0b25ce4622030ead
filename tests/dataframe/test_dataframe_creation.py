"""DataFrames of records, columns, pandas, Arrow, Polars, ranges and tables."""

from __future__ import annotations

import datetime
import decimal
import re
from collections import namedtuple
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import scurry.dataframe as pf
from scurry.table import EnvironmentSettings, TableEnvironment

Point = namedtuple("Point", ["x", "y"])


def types(df: pf.DataFrame) -> dict[str, str]:
    schema = df.schema
    kinds = [kind.as_summary_string() for kind in schema.get_field_data_types()]
    return dict(zip(schema.get_field_names(), kinds, strict=True))


def values(df: pf.DataFrame) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in df.collect()]


class TestRecords:
    @pytest.mark.parametrize(
        ("data", "schema", "columns"),
        [
            ([(1, "a"), (2, "b")], ["x", "y"], ["x", "y"]),
            ([[1, "a"], (2, "b")], ["x", "y"], ["x", "y"]),
            ([range(2), [2, 3]], ["x", "y"], ["x", "y"]),
            ([{"x": 1, "y": "a"}, {"y": "b", "x": 2}], None, ["x", "y"]),
            ([{"x": 1, "z": 0, "y": "a"}], ["y", "x"], ["y", "x"]),
            ([Point(1, 2), Point(3, 4)], None, ["x", "y"]),
            ([Point(1, 2)], ["y"], ["y"]),
            ([(1, 2), Point(3, 4)], ["a", "b"], ["a", "b"]),
        ],
    )
    def test_kinds_of_records(self, mode: str, data: Any, schema: Any, columns: list[str]) -> None:
        df = pf.from_records(data, schema)
        assert df.columns == columns
        assert len(values(df)) == len(data)

    def test_types_are_those_of_all_rows(self) -> None:
        moment = datetime.datetime(2026, 1, 2, 3, 4, 5, 6)
        first = {"a": None, "b": True, "c": 1, "d": 1.5, "e": "x", "f": b"x", "g": decimal.Decimal("1.5"),
                 "h": moment.date(), "i": moment.time(), "j": moment, "k": [1], "l": {"x": 1},
                 "m": Point(1, "x")}  # fmt: skip
        df = pf.from_records([first, {**dict.fromkeys(first), "a": 5}])
        assert types(df) == {
            "a": "BIGINT", "b": "BOOLEAN", "c": "BIGINT", "d": "DOUBLE", "e": "STRING", "f": "BYTES",
            "g": "DECIMAL(38, 18)", "h": "DATE", "i": "TIME(0)", "j": "TIMESTAMP_LTZ(6)", "k": "ARRAY<BIGINT>",
            "l": "MAP<STRING NOT NULL, BIGINT>", "m": "ROW<`x` BIGINT, `y` STRING>",
        }  # fmt: skip

    @pytest.mark.parametrize("data", ["ab", b"ab", {"x": 1}, 5, iter([(1,)])])
    def test_data_is_a_sequence(self, data: Any) -> None:
        with pytest.raises(TypeError, match="data must be a sequence of records, such as a list or tuple"):
            pf.from_records(data, ["x"])

    @pytest.mark.parametrize(
        ("data", "schema", "error", "cause"),
        [
            ([1], ["x"], TypeError, "record must be a mapping or a sequence of values, such as a list or tuple"),
            ([(1,), "a"], ["x"], TypeError, "record must be a mapping or a sequence of values"),
            ([(1,), {"x": 1}], ["x"], TypeError, "record must be a sequence"),
            ([{"x": 1}, (1,)], None, TypeError, "record must be a mapping"),
            ([Point(1, 2), (1, 2)], None, TypeError, "record must be a named tuple"),
            ([(1, 2), (1,)], ["x", "y"], ValueError, "record has 1 values but schema has 2 fields"),
            ([{"x": 1}], ["y"], ValueError, "record is missing schema field 'y'"),
            ([{"x": 1}, {"x": 1, "y": 2}], None, ValueError, r"record has fields not present in schema: \['y'\]"),
        ],
    )
    def test_a_wrong_record_is_named(self, data: Any, schema: Any, error: type[Exception], cause: str) -> None:
        with pytest.raises(error, match=f"invalid record at index {len(data) - 1}") as caught:
            pf.from_records(data, schema)
        assert isinstance(caught.value.__cause__, error)
        assert re.match(cause, str(caught.value.__cause__))

    def test_no_records_and_no_names(self) -> None:
        with pytest.raises(ValueError, match="data must not be empty"):
            pf.from_records([], ["x"])
        with pytest.raises(ValueError, match="schema is required for sequence records"):
            pf.from_records([(1,)])

    @pytest.mark.parametrize(
        ("schema", "message"),
        [(("x",), "schema must be a list of strings"), ([1], "schema must be a list of strings"),
         ([], "schema must not be empty"), ([""], "schema field names must not be empty"),
         (["x", "x"], "schema field names must be unique")],
    )  # fmt: skip
    def test_wrong_names(self, schema: Any, message: str) -> None:
        with pytest.raises((TypeError, ValueError), match=message):
            pf.from_records([(1,)], schema)
        with pytest.raises((TypeError, ValueError), match=message):
            pf.from_dict({"x": [1]}, schema)
        with pytest.raises((TypeError, ValueError), match=message):
            pf.from_pandas(pd.DataFrame({"x": [1]}), schema)

    def test_many_rows_are_no_part_of_the_plan(self) -> None:
        assert len(pf.from_records([(each,) for each in range(10_000)], ["x"]).explain()) < 1000


class TestDict:
    def test_columns(self, mode: str) -> None:
        assert values(pf.from_dict({"a": [1, 2], "b": ("x", None)})) == [(1, "x"), (2, None)]
        assert pf.from_dict({"a": [1], "b": [2]}, ["b"]).columns == ["b"]
        assert values(pf.from_dict({"a": [1], "b": [2, 3]}, ["b"])) == [(2,), (3,)]

    @pytest.mark.parametrize(
        ("data", "schema", "message"),
        [
            ([1], None, "data must be a mapping"),
            ({}, None, "data must not be empty"),
            ({"a": [1]}, ["x"], "column 'x' is not present in data"),
            ({"a": "ab"}, None, "column 'a' values must be a sequence, such as a list or tuple"),
            ({"a": [1], "b": [1, 2]}, None, "columns must have equal lengths"),
            ({"a": []}, None, "data must contain at least one row"),
        ],
    )
    def test_wrong_columns(self, data: Any, schema: Any, message: str) -> None:
        with pytest.raises((TypeError, ValueError), match=message):
            pf.from_dict(data, schema)


class TestArrowAndPandas:
    def test_of_pandas_has_the_types_of_the_table_api(self) -> None:
        frame = pd.DataFrame(
            {"a": [1, 2], "b": ["x", None], "c": [1.5, None], "d": pd.to_datetime(["2026-01-01", None])}
        )
        df = pf.from_pandas(frame)
        table = pf.get_or_create_table_environment().from_pandas(frame)
        assert str(df.schema) == str(table.get_schema())
        assert df.to_pandas().equals(table.to_pandas())

    def test_labels_are_names(self) -> None:
        assert pf.from_pandas(pd.DataFrame([[1, 2]])).columns == ["0", "1"]
        assert pf.from_pandas(pd.DataFrame([[1, 2]], columns=["a", "a"]), ["x", "y"]).columns == ["x", "y"]

    def test_of_arrow_keeps_nullability_and_takes_names(self, mode: str) -> None:
        schema = pa.schema([pa.field("a", pa.int32(), nullable=False), pa.field("b", pa.string())])
        df = pf.from_arrow(pa.table({"a": [1], "b": ["x"]}, schema=schema), ["x", "y"])
        assert types(df) == {"x": "INT NOT NULL", "y": "STRING"}
        assert values(df) == [(1, "x")]
        assert values(pf.from_arrow(schema.empty_table())) == []

    def test_clocks_of_zones_are_those_of_the_session(self) -> None:
        pf.config.set("table.local-time-zone", "America/New_York")
        moment = datetime.datetime(2026, 7, 1, 12, tzinfo=datetime.UTC)
        df = pf.from_arrow(pa.table({"a": pa.array([moment], pa.timestamp("ms", "Europe/Berlin"))}))
        assert types(df) == {"a": "TIMESTAMP(3)"}
        assert values(df) == [(datetime.datetime(2026, 7, 1, 8),)]

    def test_polars_and_others_with_the_stream_interface(self, mode: str) -> None:
        table = pa.table({"a": [1, 2]})
        assert values(pf.from_arrow(table.to_batches()[0])) == [(1,), (2,)]
        assert values(pf.from_arrow(table.to_reader())) == [(1,), (2,)]
        polars = pytest.importorskip("polars")
        df = pf.from_arrow(polars.DataFrame({"a": [1, 2], "b": ["x", "y"]}))
        assert df.filter(pf.col("a") > 1).to_polars().rows() == [(2, "y")]

    def test_columns_are_not_copied(self) -> None:
        column = pa.array(range(1000), pa.int64())
        df = pf.from_arrow(pa.table({"a": column}))
        ((changes,),) = df.to_table()._plan.table.table.source.splits()  # type: ignore[attr-defined]
        assert changes.batch.columns[0].buffers()[1].address == column.buffers()[1].address

    def test_wrong_data(self) -> None:
        with pytest.raises(TypeError, match="data must be a pandas.DataFrame, but was"):
            pf.from_pandas({"a": [1]})
        with pytest.raises(TypeError, match="data must be a pyarrow.Table, but was"):
            pf.from_arrow({"a": [1]})
        with pytest.raises(ValueError, match="schema has 1 fields but data has 2 columns"):
            pf.from_arrow(pa.table({"a": [1], "b": [2]}), ["x"])


class TestRange:
    @pytest.mark.parametrize("arguments", [(3,), (1, 4), (0, 10, 4), (5, 0, -2), (0,), (3, 1)])
    def test_is_that_of_python(self, mode: str, arguments: tuple[int, ...]) -> None:
        df = pf.range(*arguments)
        assert types(df) == {"id": "BIGINT"}
        assert values(df) == [(each,) for each in range(*arguments)]

    def test_wrong_bounds(self) -> None:
        for arguments, name in [(("1",), "start_or_end"), ((1, "2"), "end"), ((1, 2, 0.5), "step")]:
            with pytest.raises(TypeError, match=f"{name} must be an integer"):
                pf.range(*arguments)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="step must not be zero"):
            pf.range(0, 1, 0)


class TestWatermarks:
    WATERMARK = ("ts", "ts - INTERVAL '1' SECOND")

    @pytest.mark.parametrize("kind", [pa.timestamp("us"), pa.timestamp("ns"), pa.timestamp("s")])
    def test_a_column_becomes_the_event_time_in_milliseconds(self, mode: str, kind: pa.DataType) -> None:
        moments = [datetime.datetime(1969, 12, 31, 23, 59, 59), datetime.datetime(2026, 1, 1)]
        fraction = 0 if kind.unit == "s" else 999_999
        data = pa.table({"ts": pa.array([each.replace(microsecond=fraction) for each in moments], kind)})
        df = pf.from_arrow(data, watermark=self.WATERMARK)
        assert types(df)["ts"].startswith("TIMESTAMP(3)")
        assert ("*ROWTIME*" in types(df)["ts"]) == (mode == "STREAMING")
        expected = [each.replace(microsecond=999_000 if fraction else 0) for each in moments]
        assert values(df) == [(each,) for each in expected]

    def test_of_records_columns_and_pandas(self, mode: str) -> None:
        moment = datetime.datetime(2026, 1, 1, 0, 0, 0, 1500)
        frame = pd.DataFrame({"ts": [moment]})
        for df in (
            pf.from_records([(moment,)], ["ts"], self.WATERMARK),
            pf.from_dict({"ts": [moment]}, watermark=self.WATERMARK),
            pf.from_pandas(frame, watermark=self.WATERMARK),
        ):
            assert "WATERMARK FOR `ts`" in str(df.to_table().get_resolved_schema())
            assert df.to_pandas()["ts"][0].microsecond == 1000

    @pytest.mark.parametrize(
        ("watermark", "message"),
        [
            (["ts", "ts"], r"watermark must be a tuple of \(column, expression\)"),
            (("ts",), r"watermark must be a tuple of \(column, expression\)"),
            (("ts", " "), "watermark column and expression must be non-empty strings"),
            (("ts", 1), "watermark column and expression must be non-empty strings"),
            (("x", "x"), "watermark column 'x' is not present in data"),
            (("id", "id"), "watermark column 'id' must have a timestamp type"),
        ],
    )
    def test_wrong_watermarks(self, watermark: Any, message: str) -> None:
        with pytest.raises((TypeError, ValueError), match=message):
            pf.from_records([(1, datetime.datetime(2026, 1, 1))], ["id", "ts"], watermark)


def test_a_table_is_the_same_again() -> None:
    table = TableEnvironment.create(EnvironmentSettings.in_batch_mode()).from_elements([(1,)], ["a"])
    assert pf.from_table(table).to_table() is table
    with pytest.raises(TypeError, match="table must be a pyflink.table.Table"):
        pf.from_table(1)  # type: ignore[arg-type]
