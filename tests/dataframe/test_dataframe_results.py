"""Rows and batches of running jobs: `collect`, `iter_rows`, `iter_batches`, `take` and `take_batch`."""

from __future__ import annotations

import time
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import scurry.dataframe as pf


def endless(rate: int = 1000) -> pf.DataFrame:
    environment = pf.get_or_create_table_environment()
    environment.execute_sql(
        "CREATE TEMPORARY TABLE IF NOT EXISTS numbers (n BIGINT) WITH ('connector' = 'datagen', "
        f"'rows-per-second' = '{rate}', 'fields.n.kind' = 'sequence', 'fields.n.start' = '0', "
        "'fields.n.end' = '1000000000')"
    )
    return pf.from_table(environment.from_path("numbers"))


class TestRows:
    def test_are_dicts(self, mode: str) -> None:
        df = pf.from_dict({"a": [1, 2], "b": ["x", None]})
        with df.iter_rows() as rows:
            assert isinstance(rows, pf.CloseableIterator)
            assert iter(rows) is rows
            assert list(rows) == [{"a": 1, "b": "x"}, {"a": 2, "b": None}]
        assert list(rows) == []
        rows.close()

    def test_have_kinds_of_changes_if_asked(self) -> None:
        df = pf.from_dict({"a": [1, 1]}).group_by("a").agg(n=pf.col("a").count)
        kinds = [row["kind"] for row in df.iter_rows(include_row_kind=True, row_kind_field="kind")]
        assert kinds in (["+I"], ["+I", "-U", "+U"])

    def test_of_a_running_stream_are_given_as_they_come(self) -> None:
        rows = endless().iter_rows()
        assert [next(rows)["n"] for _ in range(3)] == [0, 1, 2]
        rows.close()
        with pytest.raises(StopIteration):
            next(rows)

    def test_failures_of_the_job_are_raised_and_end_it(self, mode: str) -> None:
        df = pf.from_dict({"a": ["1", "x"]}).select(pf.col("a").cast(pf.DataType.int32()))
        rows = df.iter_rows()
        with pytest.raises(Exception, match="'x'"):
            list(rows)
        assert list(rows) == []

    def test_the_field_of_kinds_is_no_column(self) -> None:
        df = pf.from_dict({"a": [1]})
        with pytest.raises(ValueError, match="row_kind_field 'a' conflicts with an existing column; pass a different"):
            df.iter_rows(include_row_kind=True, row_kind_field="a")
        with pytest.raises(TypeError, match="row_kind_field must be a string"):
            df.take(1, include_row_kind=True, row_kind_field=1)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="row_kind_field must not be empty"):
            df.iter_batches(include_row_kind=True, row_kind_field="")
        assert df.take(1, row_kind_field="a") == [{"a": 1}]  # not used


class TestBatches:
    def test_have_exactly_their_size(self, mode: str) -> None:
        sizes = [len(batch) for batch in pf.range(7).iter_batches(batch_size=3)]
        assert sizes == [3, 3, 1]

    def test_of_pandas_and_arrow(self, mode: str) -> None:
        df = pf.from_dict({"a": [1, None], "b": [[1], None], "c": [{"x": 1}, None]})
        (batch,) = df.iter_batches(batch_format="pyarrow", include_row_kind=True)
        assert isinstance(batch, pa.Table)
        assert batch.to_pylist()[0] == {"a": 1, "b": [1], "c": [("x", 1)], "__row_kind__": "+I"}
        assert batch.schema.field("__row_kind__").type == pa.string() and not batch.schema.field(3).nullable
        (frame,) = df.select("a").iter_batches()
        assert isinstance(frame, pd.DataFrame) and list(frame.columns) == ["a"]

    def test_have_points_of_time(self, mode: str) -> None:
        import datetime

        moment = datetime.datetime(2026, 1, 1, 12)
        (batch,) = pf.from_dict({"a": [moment]}).iter_batches(batch_format="pyarrow")
        assert batch.column("a")[0].as_py() == moment.replace(tzinfo=datetime.UTC)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"batch_size": 0}, "batch_size must be at least 1, got 0"),
            ({"batch_size": True}, "batch_size must be an integer"),
            ({"batch_format": "x"}, r"batch_format must be one of \['pandas', 'pyarrow'\], got 'x'"),
            ({"batch_format": 1}, "batch_format must be a string"),
            ({"include_row_kind": 1}, "include_row_kind must be a boolean"),
        ],
    )
    def test_arguments_are_checked_before_a_job_starts(self, options: Any, message: str) -> None:
        with pytest.raises((TypeError, ValueError), match=message):
            endless().iter_batches(**options)

    def test_types_without_arrow_are_refused_before_a_job_starts(self) -> None:
        df = pf.from_dict({"a": [1]}).agg(m=pf.col("a").collect)
        with pytest.raises(ValueError, match="column 'm' has the type MULTISET<BIGINT> NOT NULL, which is"):
            df.iter_batches()


class TestTake:
    def test_ends_an_endless_job(self) -> None:
        assert endless().take(3) == [{"n": 0}, {"n": 1}, {"n": 2}]

    def test_returns_what_came_in_time(self) -> None:
        before = time.monotonic()
        found = endless(rate=2).take(1000, timeout=2.0)
        assert time.monotonic() - before < 60
        assert 0 < len(found) < 1000

    def test_as_a_batch(self, mode: str) -> None:
        batch = pf.range(10).take_batch(4, batch_format="pyarrow")
        assert batch.num_rows == 4
        empty = pf.range(0).take_batch(4, batch_format="pyarrow", include_row_kind=True)
        assert empty.schema.names == ["id", "__row_kind__"]
        assert list(pf.range(3).take_batch(2)["id"]) == [0, 1]

    def test_of_no_rows_starts_no_job(self) -> None:
        df = pf.from_dict({"a": ["x"]}).select(pf.col("a").cast(pf.DataType.int32()))
        assert df.take(0) == []
        with pytest.raises(Exception, match="'x'"):
            df.take(1)

    @pytest.mark.parametrize(
        ("n", "options", "message"),
        [
            (-1, {}, "n must be at least 0, got -1"),
            (True, {}, "n must be an integer"),
            (1, {"timeout": -1}, "timeout must be at least 0, got -1"),
            (1, {"timeout": float("inf")}, "timeout must be finite, got inf"),
            (1, {"timeout": "1"}, "timeout must be a number"),
        ],
    )
    def test_arguments_are_checked(self, n: Any, options: Any, message: str) -> None:
        df = pf.from_dict({"a": [1]})
        for call in (df.take, df.take_batch):
            with pytest.raises((TypeError, ValueError), match=message):
                call(n, **options)


def test_collect_closes_its_iterator_also_when_it_fails() -> None:
    closed = []

    class Rows:
        def __enter__(self) -> Rows:
            return self

        def __exit__(self, *error: object) -> None:
            closed.append(error[0])

        def __iter__(self) -> Any:
            raise RuntimeError("failed")

    class Table:
        def execute(self) -> Table:
            return self

        def collect(self) -> Rows:
            return Rows()

    with pytest.raises(RuntimeError, match="failed"):
        pf.DataFrame(Table()).collect()
    assert closed == [RuntimeError]
