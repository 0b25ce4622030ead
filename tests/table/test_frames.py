"""Tables of columns in memory, and back: pandas with PyFlink's types, and Arrow."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from scurry.common.time import Instant
from scurry.errors import ArgumentTypeError, TypeMismatchError
from scurry.table import DataTypes, TableEnvironment
from scurry.table.expressions import col
from scurry.table.udf import udf
from support.statements.tables import environment


@pytest.fixture(params=[False, True], ids=["batch", "streaming"])
def env(request: pytest.FixtureRequest) -> TableEnvironment:
    return environment(request.param)


FRAME = pd.DataFrame(
    {
        "a": [1, 2, 3],
        "b": [1.5, np.nan, 2.5],
        "c": ["x", None, "z"],
        "d": pd.to_datetime(["2020-01-01 01:02:03", "2020-01-02 00:00:00", None]).astype("datetime64[ns]"),
        "e": [decimal.Decimal("1.5"), None, decimal.Decimal("2.5")],
        "f": [datetime.date(2020, 1, 1)] * 3,
        "g": [[1, 2], None, [3]],
        "h": [b"a", b"b", None],
        "i": [True, False, True],
    }
)


def schema(table: Any) -> list[tuple[str, str]]:
    found = table.get_resolved_schema()
    types = [each.as_summary_string() for each in found.get_column_data_types()]
    return list(zip(found.get_column_names(), types, strict=True))


def test_columns_of_pandas_have_the_types_that_pyflink_gives_them(env: TableEnvironment) -> None:
    assert schema(env.from_pandas(FRAME)) == [
        ("a", "BIGINT"),
        ("b", "DOUBLE"),
        ("c", "STRING"),
        ("d", "TIMESTAMP(9)"),
        ("e", "DECIMAL(2, 1)"),
        ("f", "DATE"),
        ("g", "ARRAY<BIGINT>"),
        ("h", "BYTES"),
        ("i", "BOOLEAN"),
    ]


def test_a_frame_comes_back_with_its_values_and_missing_ones_are_null(env: TableEnvironment) -> None:
    table = env.from_pandas(FRAME)
    back = table.to_pandas()
    assert list(back.columns) == list(FRAME.columns)
    assert back["a"].tolist() == [1, 2, 3] and back["e"].tolist() == FRAME["e"].tolist()
    assert back["d"].dtype == FRAME["d"].dtype and back["d"].equals(FRAME["d"])
    with table.filter(col("b").is_null).select(col("a"), col("c"), col("h")).execute().collect() as rows:
        assert [tuple(row) for row in rows] == [(2, None, bytearray(b"b"))]


def test_parts_of_a_frame_are_read_by_several_readers(env: TableEnvironment) -> None:
    frame = pd.DataFrame({"a": range(10)})
    assert sorted(env.from_pandas(frame, splits_num=4).to_pandas()["a"]) == list(range(10))


@pytest.mark.parametrize("given", [["x", "y"], [DataTypes.INT(), DataTypes.FLOAT()], None])
def test_a_schema_names_or_types_the_columns(env: TableEnvironment, given: Any) -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5]})
    expected = {
        None: [("a", "BIGINT"), ("b", "DOUBLE")],
        "names": [("x", "BIGINT"), ("y", "DOUBLE")],
        "types": [("a", "INT"), ("b", "FLOAT")],
    }
    kind = None if given is None else "names" if isinstance(given[0], str) else "types"
    assert schema(env.from_pandas(frame, given)) == expected[kind]
    assert env.from_pandas(frame, given).to_pandas().values.tolist() == [[1.0, 0.5], [2.0, 1.5]]


def test_a_row_type_gives_names_and_types(env: TableEnvironment) -> None:
    row = DataTypes.ROW([DataTypes.FIELD("x", DataTypes.SMALLINT()), DataTypes.FIELD("y", DataTypes.STRING())])
    table = env.from_pandas(pd.DataFrame({"a": [1], "b": ["q"]}), row)
    assert schema(table) == [("x", "SMALLINT"), ("y", "STRING")]


def test_values_that_do_not_fit_name_the_column(env: TableEnvironment) -> None:
    with pytest.raises(TypeMismatchError, match=r"column 'a' TINYINT"):
        env.from_pandas(pd.DataFrame({"a": [1000]}), [DataTypes.TINYINT()])
    with pytest.raises(TypeError, match=r"expected pandas.DataFrame, got <class 'list'>"):
        env.from_pandas([1])
    with pytest.raises(ArgumentTypeError, match="Unsupported schema type"):
        env.from_pandas(FRAME, 5)  # type: ignore[arg-type]


def test_points_of_time_have_the_zone_of_the_session(env: TableEnvironment) -> None:
    env.get_config().set("table.local-time-zone", "UTC")
    found = env.sql_query("SELECT TO_TIMESTAMP_LTZ(1500, 3) AS t, TIMESTAMP '2020-01-02 03:04:05' AS u").to_pandas()
    assert found["t"][0] == pd.Timestamp("1970-01-01 00:00:01.5", tz="UTC")
    assert found["u"][0] == pd.Timestamp("2020-01-02 03:04:05")
    assert str(found["u"].dtype) == "datetime64[s]"


def test_dates_times_and_maps_are_what_arrow_makes_of_them(env: TableEnvironment) -> None:
    found = env.sql_query("SELECT DATE '2020-01-02' AS d, TIME '10:11:12' AS t, MAP['a', 1] AS m").to_pandas()
    assert found["d"][0] == datetime.date(2020, 1, 2) and found["t"][0] == datetime.time(10, 11, 12)
    assert found["m"][0] == [("a", 1)]


def test_no_rows_give_a_frame_with_the_names(env: TableEnvironment) -> None:
    found = env.from_pandas(FRAME).filter(col("a") > 5).to_pandas()
    assert list(found.columns) == list(FRAME.columns) and len(found) == 0


def test_changes_are_applied_in_the_order_of_the_rows_that_are_left() -> None:
    env = environment(True, **{"parallelism.default": "1"})
    table = env.from_elements([("a", 1), ("b", 2), ("a", 3)], ["k", "v"])
    found = table.group_by(col("k")).select(col("k"), col("v").sum.alias("s")).to_pandas()
    assert found.values.tolist() == [["b", 2], ["a", 4]]


def test_columns_of_arrow_keep_their_types(env: TableEnvironment) -> None:
    columns = pa.table(
        {
            "a": pa.array([1, None], pa.int16()),
            "s": pa.array([{"x": 1}, None], pa.struct([("x", pa.int32())])),
            "t": pa.array([0, 1500], pa.timestamp("ms", "UTC")),
            "l": pa.array([["q"], []], pa.list_(pa.string())),
            "m": pa.array([[("k", 1.5)], None], pa.map_(pa.string(), pa.float64())),
        }
    )
    table = env.from_arrow(columns)
    types = ["SMALLINT", "ROW<`x` INT>", "TIMESTAMP_LTZ(3)", "ARRAY<STRING>", "MAP<STRING, DOUBLE>"]
    assert [kind for _, kind in schema(table)] == types
    assert table.to_arrow().equals(columns)
    with table.select(col("t")).execute().collect() as rows:
        assert [row[0] for row in rows] == [Instant(0, 0), Instant(1, 500_000_000)]


class Stream:
    """Something with Arrow's C stream interface, as DataFrames of Polars are."""

    def __arrow_c_stream__(self, requested: Any = None) -> Any:
        return pa.table({"a": ["x"]}).__arrow_c_stream__(requested)


def test_anything_with_the_stream_interface_of_arrow_is_a_table(env: TableEnvironment) -> None:
    assert env.from_arrow(Stream()).to_arrow().to_pydict() == {"a": ["x"]}
    assert env.from_arrow(pa.record_batch({"a": [1]})).to_arrow().to_pydict() == {"a": [1]}
    with pytest.raises(ArgumentTypeError, match="expected a pyarrow.Table, got <class 'int'>"):
        env.from_arrow(1)


def test_a_type_that_sql_does_not_have_is_refused(env: TableEnvironment) -> None:
    with pytest.raises(ArgumentTypeError, match="column .a.: Unsupported data type"):
        env.from_arrow(pa.table({"a": pa.nulls(1, pa.month_day_nano_interval())}))
    with pytest.raises(ArgumentTypeError, match=r"expected a pyspark.sql.DataFrame"):
        env.from_spark(FRAME)


def test_texts_are_objects_with_none_as_in_the_pandas_of_pyflink(env: TableEnvironment) -> None:
    found = env.from_elements([(1, "a"), (2, None)], ["i", "s"]).to_pandas()
    assert (found["s"].dtype, found.columns.dtype) == (object, object)
    assert found.values.tolist() == [[1, "a"], [2, None]]


def test_vectorised_functions_get_none_where_a_text_is_null(env: TableEnvironment) -> None:
    sizes = udf(lambda s: s.map(lambda text: -1 if text is None else len(text)), result_type="INT", func_type="pandas")
    table = env.from_elements([(1, "abc"), (2, None)], ["i", "s"])
    assert table.select(sizes(col("s")).alias("n")).to_pandas()["n"].tolist() == [3, -1]
