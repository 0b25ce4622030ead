"""State as DataFrames, read and written by Spark's workers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pipelines
import pytest
from pipelines import LAST, RECENT, SOURCE, Counts, MeanAndTimers, Visit

from scurry.common import Time
from scurry.datastream.window import TumblingEventTimeWindows
from scurry.errors import OperatorError, StateNotFoundError
from scurry.state import KeyedStateBootstrapFunction, OperatorTransformation, SavepointReader, SavepointWriter
from scurry.testing import TestHarness
from support.state.harness_savepoints import NOW, save, start_from

pytestmark = pytest.mark.spark


@pytest.fixture
def savepoint(tmp_path: Path) -> SavepointReader:
    with TestHarness.of(pipelines.profiles, parallelism=2, processing_time=NOW) as harness:
        with harness.batch():
            for number in range(200):
                harness.process((f"user {number % 100}", Visit("home", number)), 1_000)
        return SavepointReader.read(save(harness, tmp_path / "savepoint", {"files": SOURCE}))


def test_keyed_state_is_a_dataframe_with_a_column_per_state(spark: Any, savepoint: SavepointReader) -> None:
    schema = "key STRING, count BIGINT, pages ARRAY<STRUCT<page: STRING, seconds: BIGINT>>, last STRING"
    frame = savepoint.keyed_state_frame(spark, "profiles", schema, LAST, RECENT)
    assert frame.count() == 100
    row = frame.where("key = 'user 7'").first()
    assert row.asDict(recursive=True) == {
        "key": "user 7", "count": 2, "last": "home",
        "pages": [{"page": "home", "seconds": 7}, {"page": "home", "seconds": 107}],
    }  # fmt: skip


def test_without_a_schema_states_are_text(spark: Any, savepoint: SavepointReader) -> None:
    row = savepoint.keyed_state_frame(spark, "profiles", None, LAST, RECENT).where("key = 'user 7'").first()
    assert row.states["count"] == "2" and row.states["pages"].startswith('[{"page": "home"')


def test_timers_and_what_functions_read_are_dataframes(spark: Any, savepoint: SavepointReader) -> None:
    timers = savepoint.timers_frame(spark, "profiles")
    assert timers.groupBy("time", "domain").count().collect() == [(61_000, "EVENT_TIME", 100)]
    schema = "key STRING, mean DOUBLE, timers ARRAY<BIGINT>, others ARRAY<BIGINT>"
    frame = savepoint.read_keyed_state_frame(spark, "profiles", Reads(), schema)
    assert frame.where("key = 'user 7'").first() == ("user 7", 57.0, [61_000], [])


class Reads(MeanAndTimers):
    def read_key(self, key: Any, ctx: Any) -> Any:
        for name, mean, event, processing in super().read_key(key, ctx):
            yield name, mean, event, sorted(processing)


def test_an_unknown_operator_is_refused_before_anything_runs(spark: Any, savepoint: SavepointReader) -> None:
    with pytest.raises(StateNotFoundError, match="did you mean 'profiles'"):
        savepoint.keyed_state_frame(spark, "profile")


def test_state_of_a_dataframe_is_written_on_the_workers(spark: Any, tmp_path: Path) -> None:
    rows = spark.range(1_000).selectExpr("concat('user ', id % 50) AS user", "id AS n")
    bootstrap = OperatorTransformation.bootstrap_with(rows).key_by(_user).transform(Adds())
    path = SavepointWriter.new_savepoint().with_operator("profiles", bootstrap).write(f"{tmp_path}/s")
    with start_from(path, pipelines.profiles, parallelism=3) as harness:
        for number in range(50):
            harness.process((f"user {number}", Visit("home", 1)), 70_000)
        counts = dict(harness.outputs())
        assert counts == {f"user {n}": sum(range(n, 1_000, 50)) + 1 for n in range(50)}
        harness.advance_watermark(60_000)
        assert len(harness.outputs()) == 100


class Adds(Counts):
    def process_element(self, value: Any, ctx: Any) -> None:
        super().process_element((value.user, value.n), ctx)


def _user(row: Any) -> Any:
    return row.user


def test_windows_of_a_dataframe_and_kept_operators_go_into_one_savepoint(
    spark: Any, tmp_path: Path, savepoint: SavepointReader
) -> None:
    visits = [("ann", 5, 1_000), ("ann", 7, 2_000), ("bob", 1, 12_000)]
    rows = spark.createDataFrame(visits, "who STRING, n INT, t LONG")
    windowed = OperatorTransformation.bootstrap_with(rows).assign_timestamps(lambda row: row.t).key_by(lambda r: r.who)
    transformation = windowed.window(TumblingEventTimeWindows.of(Time.seconds(10))).aggregate(RowSeconds())
    writer = SavepointWriter.from_existing_savepoint(savepoint.path).change_operator_uid("profiles", "visitors")
    path = writer.with_operator("windows", transformation).write(f"{tmp_path}/s")
    written = SavepointReader.read(path)
    assert len(list(written.keyed_state("visitors"))) == 100 and written.metadata.sources == {"files": SOURCE}
    frame = written.window_state_frame(spark, "windows", "STRUCT<total: BIGINT, number: BIGINT>")
    assert sorted(map(tuple, frame.collect())) == [("ann", 0, 10_000, (12, 2)), ("bob", 10_000, 20_000, (1, 1))]


class RowSeconds(pipelines.Mean):
    def add(self, value: Any, accumulator: Any) -> Any:
        return super().add(value.n, accumulator)


def test_columns_of_a_dataframe_are_states(spark: Any, tmp_path: Path) -> None:
    rows = spark.createDataFrame([("ann", 41), ("bob", None)], "key STRING, count LONG")
    transformation = OperatorTransformation.keyed_state(rows, [pipelines.COUNT])
    path = SavepointWriter.new_savepoint().with_operator("profiles", transformation).write(f"{tmp_path}/s")
    assert list(SavepointReader.read(path).keyed_state("profiles")) == [("ann", {"count": 41})]


class Breaks(KeyedStateBootstrapFunction):
    def process_element(self, value: Any, ctx: Any) -> None:
        if value.id == 13:
            raise RuntimeError("unlucky")


def test_a_function_that_fails_on_a_worker_is_told_with_its_record(spark: Any, tmp_path: Path) -> None:
    transformation = OperatorTransformation.bootstrap_with(spark.range(20)).key_by(lambda r: r.id).transform(Breaks())
    writer = SavepointWriter.new_savepoint().with_operator("numbers", transformation)
    with pytest.raises(OperatorError, match=r"(?s)RuntimeError: unlucky.*operator 'numbers'.*record: Row\(id=13\)"):
        writer.write(f"{tmp_path}/s")
    # tasks that Spark has not stopped yet may still write entries: without a manifest they are no savepoint
    assert not [file.name for file in (tmp_path / "s").rglob("*.json")]
