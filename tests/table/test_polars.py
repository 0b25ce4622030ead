"""DataFrames of Polars as tables, and back; Polars is an extra."""

from __future__ import annotations

import datetime
import decimal
import sys
from typing import Any

import pytest

from scurry.errors import ArgumentTypeError, ExtraMissingError
from scurry.table import EnvironmentSettings, TableEnvironment


@pytest.fixture
def t_env() -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    made.get_config().set("scurry.runner", "local")
    return made


@pytest.fixture
def pl() -> Any:
    return pytest.importorskip("polars")


@pytest.mark.parametrize(
    ("value", "dtype", "shown", "back"),
    [
        (1, "Int64", "BIGINT", "Int64"),
        (1, "UInt8", "SMALLINT", "Int16"),
        (1, "UInt64", "DECIMAL(20, 0)", "Decimal"),
        (1.5, "Float32", "FLOAT", "Float32"),
        (True, "Boolean", "BOOLEAN", "Boolean"),
        ("a", "String", "STRING", "String"),
        ("a", "Categorical", "STRING", "String"),
        (b"a", "Binary", "BYTES", "Binary"),
        (datetime.date(2020, 1, 2), "Date", "DATE", "Date"),
        (datetime.time(1, 2, 3, 4000), "Time", "TIME(9)", "Time"),
        (datetime.datetime(2020, 1, 2, 3, 4, 5, 600), None, "TIMESTAMP(6)", "Datetime"),
        (datetime.datetime(2020, 1, 2, 3, 4, 5, tzinfo=datetime.UTC), None, "TIMESTAMP_LTZ(6)", "Datetime"),
        (decimal.Decimal("1.50"), None, "DECIMAL(38, 2)", "Decimal"),
        ([1, None], None, "ARRAY<BIGINT>", "List"),
        ({"a": 1, "b": "x"}, None, "ROW<`a` BIGINT, `b` STRING>", "Struct"),
    ],
)
def test_columns_come_back_as_they_went(
    t_env: TableEnvironment, pl: Any, value: Any, dtype: str | None, shown: str, back: str
) -> None:
    frame = pl.DataFrame({"c": pl.Series([value, None], dtype=None if dtype is None else getattr(pl, dtype))})
    table = t_env.from_arrow(frame)
    kind = table.get_schema().get_field_data_type("c")
    assert kind is not None
    assert kind.as_summary_string() == shown
    found = table.to_polars()
    assert str(found["c"].dtype).partition("(")[0] == back
    assert found["c"].to_list() == [value, None]


def test_a_type_that_sql_does_not_have_is_refused(t_env: TableEnvironment, pl: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="column 'c': Unsupported data type"):
        t_env.from_arrow(pl.DataFrame({"c": [datetime.timedelta(seconds=1)]}))


def test_columns_are_not_copied_on_the_way(t_env: TableEnvironment, pl: Any) -> None:
    frame = pl.DataFrame({"x": list(range(1000))})

    def address(given: Any) -> int:
        return int(given.to_arrow().column(0).chunks[0].buffers()[1].address)

    assert address(t_env.from_arrow(frame).to_polars()) == address(frame)


def test_without_polars_the_error_names_the_extra(t_env: TableEnvironment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ExtraMissingError, match=r"pip install 'scurry\[polars\]'"):
        t_env.from_elements([(1,)], ["a"]).to_polars()
