"""Jobs go on with what a SavepointWriter has written, at any parallelism."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pipelines
import pytest
from pipelines import BY_PAGE, COUNT, LAST, MEAN, PAGES, PRICES, RECENT, SOURCE, TOTAL, Counts, Mean, Seconds, Visit

from scurry.common import Row, Time
from scurry.datastream.functions import KeyedProcessFunction
from scurry.datastream.window import CountTrigger, EventTimeSessionWindows, TumblingEventTimeWindows
from scurry.errors import ArgumentError, ArgumentTypeError, OperatorError, StateNotFoundError, UnpicklableFunctionError
from scurry.state import (
    BroadcastStateBootstrapFunction,
    KeyedStateBootstrapFunction,
    OperatorTransformation,
    SavepointReader,
    SavepointWriter,
)
from scurry.testing import TestHarness
from support.state.harness_savepoints import save, start_from

HOME = Visit("home", 10)


def bootstrap(records: Any) -> Any:
    return OperatorTransformation.bootstrap_with(records).key_by(lambda pair: pair[0]).transform(Counts())


@pytest.mark.parametrize("parallelism", [1, 3])
def test_a_job_goes_on_with_the_state_that_a_function_made(tmp_path: Path, parallelism: int) -> None:
    records = [(f"user {number % 50}", number) for number in range(500)]
    path = SavepointWriter.new_savepoint().with_operator("profiles", bootstrap(records)).write(f"{tmp_path}/s")
    with start_from(path, pipelines.profiles, parallelism) as harness:
        for number in range(50):
            harness.process((f"user {number}", HOME), 70_000)
        counts = dict(harness.outputs())
    assert counts == {f"user {n}": sum(range(n, 500, 50)) + 1 for n in range(50)}


@pytest.mark.parametrize("parallelism", [1, 3])
def test_timers_that_a_function_set_fire_in_the_job(tmp_path: Path, parallelism: int) -> None:
    transformation = bootstrap([("ann", 3), ("bob", 5), ("ann", 5)])
    path = SavepointWriter.new_savepoint().with_operator("profiles", transformation).write(f"{tmp_path}/s")
    with start_from(path, pipelines.profiles, parallelism) as harness:
        harness.advance_watermark(59_999)
        assert harness.outputs() == []
        harness.advance_watermark(60_000)
        fired = sorted(output[:4] for output in harness.outputs())
    assert fired == [("timer", "ann", 60_000, 4.0), ("timer", "bob", 60_000, 5.0)]


def test_state_is_written_from_plain_values(tmp_path: Path) -> None:
    states = {
        "count": 41, "pages": [Row(page="home", seconds=10)], "by_page": {"home": HOME}, "total": 10, "mean": (10, 1),
        "last": "home", "recent": ["home"],
    }  # fmt: skip
    descriptors = (COUNT, PAGES, BY_PAGE, TOTAL, MEAN, LAST, RECENT)
    transformation = OperatorTransformation.keyed_state([("ann", states)], descriptors)
    path = SavepointWriter.new_savepoint().with_operator("profiles", transformation).write(f"{tmp_path}/s")
    with start_from(path, pipelines.profiles) as harness:
        assert harness.state(BY_PAGE, "ann") == {"home": HOME}
        assert harness.state(RECENT, "ann") == ["home"]
        harness.process(("ann", HOME), 1_000)
        harness.advance_watermark(61_000)
        assert harness.outputs()[0] == ("ann", 42)
        assert harness.outputs()[1][3:] == (10.0, [Row(page="home", seconds=10)] * 2)


def test_what_a_savepoint_shows_can_be_changed_and_written_back(tmp_path: Path) -> None:
    with TestHarness.of(pipelines.profiles, parallelism=2) as harness:
        harness.process(("ann", HOME), 1_000)
        harness.process(("bob", HOME), 2_000)
        before = save(harness, tmp_path / "before")
    reader = SavepointReader.read(before)
    found = reader.keyed_state("profiles", LAST, RECENT)
    changed = ((key, {**states, "count": states["count"] + 100}) for key, states in found)
    descriptors = (COUNT, PAGES, BY_PAGE, TOTAL, MEAN, LAST, RECENT)
    writer = SavepointWriter.from_existing_savepoint(before).remove_operator("profiles")
    writer.with_operator("profiles", OperatorTransformation.keyed_state(changed, descriptors))
    path = writer.write(f"{tmp_path}/after")
    with start_from(path, pipelines.profiles, parallelism=3) as harness:
        harness.process(("ann", HOME), 5_000)
        harness.process(("bob", HOME), 5_000)
        assert harness.outputs() == [("ann", 102), ("bob", 102)]


def test_an_operator_that_is_described_by_values_stays_what_it_was(tmp_path: Path) -> None:
    with TestHarness.of(pipelines.totals) as harness:
        harness.process(("ann", 1))
        before = save(harness, tmp_path / "before")
    doubled = [
        (key, {"reduce": (key, states["reduce"][1] * 2)})
        for key, states in SavepointReader.read(before).keyed_state("totals")
    ]
    writer = SavepointWriter.from_existing_savepoint(before).remove_operator("totals")
    path = writer.with_operator("totals", OperatorTransformation.keyed_state(doubled)).write(f"{tmp_path}/after")
    with start_from(path, pipelines.totals) as harness:
        harness.process(("ann", 5))
        assert harness.outputs() == [("ann", 7)]


def test_a_rolling_reduce_goes_on(tmp_path: Path) -> None:
    records = OperatorTransformation.bootstrap_with([("ann", 1), ("ann", 2)]).key_by(lambda pair: pair[0])
    reduce = records.reduce(lambda a, b: (a[0], a[1] + b[1]))
    path = SavepointWriter.new_savepoint().with_operator("totals", reduce).write(f"{tmp_path}/s")
    with start_from(path, pipelines.totals) as harness:
        harness.process(("ann", 5))
        assert harness.outputs() == [("ann", 8)]


def test_the_savepoint_tells_what_its_states_are(tmp_path: Path) -> None:
    prices = OperatorTransformation.broadcast_state({PRICES: {"tea": 3}, "anything": {1: Visit("home", 1)}})
    values = OperatorTransformation.keyed_state([("ann", {"last": "home", "count": 1})], [LAST, COUNT])
    windowed = in_windows(TumblingEventTimeWindows.of(Time.seconds(10))).aggregate(Seconds())
    writer = SavepointWriter.new_savepoint().with_operator("values", values, prices).with_operator("windows", windowed)
    operators = SavepointReader.read(writer.write(f"{tmp_path}/s")).metadata.operators
    classes = operators["values"].states.pop("(classes)")["classes"]
    assert operators["values"].states == {
        "last": {"kind": "value", "type": "ANY", "ttl": 60_000},
        "count": {"kind": "value", "type": "LONG"},
        "broadcast:prices": {"kind": "broadcast", "type": ["MAP", "STRING", "LONG"], "lazy": True},
    }
    assert list(classes) == ["pipelines:Visit"]
    assert operators["windows"].states["window-contents"]["layout"] == "windows of 10000 ms (aggregate)"


# ------------------------------------------------------------------ windows


TIMED = [("ann", 5, 1_000), ("bob", 1, 2_000), ("ann", 7, 3_000)]


def in_windows(assigner: Any) -> Any:
    records = OperatorTransformation.bootstrap_with([(key, value) for key, value, _ in TIMED])
    times = {(key, value): time for key, value, time in TIMED}
    return records.assign_timestamps(times.__getitem__).key_by(lambda pair: pair[0]).window(assigner)


@pytest.mark.parametrize("parallelism", [1, 3])
def test_open_windows_take_more_records_and_end(tmp_path: Path, parallelism: int) -> None:
    transformation = in_windows(TumblingEventTimeWindows.of(Time.seconds(10))).aggregate(Seconds())
    path = SavepointWriter.new_savepoint().with_operator("windows", transformation).write(f"{tmp_path}/s")
    with start_from(path, pipelines.windows, parallelism) as harness:
        harness.process(("ann", 3), 4_000)
        harness.advance_watermark(9_999)
        assert sorted(harness.outputs()) == [1.0, 5.0]


def test_open_sessions_grow_and_end(tmp_path: Path) -> None:
    gaps = EventTimeSessionWindows.with_gap(Time.seconds(5))
    transformation = in_windows(gaps).process(pipelines.Joined())
    path = SavepointWriter.new_savepoint().with_operator("sessions", transformation).write(f"{tmp_path}/s")
    with start_from(path, pipelines.sessions, parallelism=2) as harness:
        harness.process(("ann", 3), 6_000)
        harness.advance_watermark(11_000)
        assert sorted(harness.outputs()) == [("ann", 1_000, 11_000, [5, 7, 3]), ("bob", 2_000, 7_000, [1])]


def test_triggers_know_what_they_have_seen(tmp_path: Path) -> None:
    windowed = in_windows(TumblingEventTimeWindows.of(Time.seconds(10))).trigger(CountTrigger.of(3))
    transformation = windowed.process(pipelines.Joined())
    path = SavepointWriter.new_savepoint().with_operator("early", transformation).write(f"{tmp_path}/s")
    with start_from(path, pipelines.early_windows) as harness:
        harness.process(("ann", 3), 4_000)
        assert harness.outputs() == [("ann", 0, 10_000, [5, 7, 3])]


# ------------------------------------------------------------------ broadcast state


class Prices(BroadcastStateBootstrapFunction):
    def process_element(self, value: Any, ctx: Any) -> None:
        ctx.get_broadcast_state(PRICES).put(*value)


def test_broadcast_state_is_in_every_subtask_next_to_keyed_state(tmp_path: Path) -> None:
    sold = OperatorTransformation.keyed_state([(item, {"sold": 10}) for item in "abcdefgh"])
    prices = OperatorTransformation.bootstrap_with([(item, 2) for item in "abcdefgh"]).transform(Prices())
    path = SavepointWriter.new_savepoint().with_operator("revenue", sold, prices).write(f"{tmp_path}/s")
    with start_from(path, pipelines.revenue, parallelism=4) as harness:
        for item in "abcdefgh":
            harness.process((item, 1), input=1)
        assert harness.outputs() == [(item, 22) for item in "abcdefgh"]


def test_broadcast_state_is_written_from_plain_values(tmp_path: Path) -> None:
    prices = OperatorTransformation.broadcast_state({PRICES: {"tea": 3}})
    path = SavepointWriter.new_savepoint().with_operator("revenue", prices).write(f"{tmp_path}/s")
    with start_from(path, pipelines.revenue) as harness:
        harness.process(("tea", 2), input=1)
        assert harness.outputs() == [("tea", 6)]


# ------------------------------------------------------------------ parts of other savepoints


@pytest.fixture
def existing(tmp_path: Path) -> str:
    def both(stream: Any) -> Any:
        return pipelines.profiles(stream).union(pipelines.windows(stream.map(lambda pair: (pair[0], pair[1].seconds))))

    with TestHarness.of(both, parallelism=2) as harness:
        harness.process(("ann", HOME), 1_000)
        harness.advance_watermark(500)
        return save(harness, tmp_path / "existing", {"files": SOURCE})


def test_what_is_not_removed_stays_as_it_was(tmp_path: Path, existing: str) -> None:
    path = SavepointWriter.from_existing_savepoint(existing).remove_operator("windows").write(f"{tmp_path}/s")
    metadata = SavepointReader.read(path).metadata
    assert (list(metadata.operators), metadata.sources) == (["profiles"], {"files": SOURCE})
    assert list(SavepointReader.read(path).keyed_state("profiles")) == list(
        SavepointReader.read(existing).keyed_state("profiles")
    )
    writer = SavepointWriter.from_existing_savepoint(path).remove_operator("files")
    path = writer.change_operator_uid("profiles", "visitors").write(f"{tmp_path}/t")

    def visitors(stream: Any) -> Any:
        return stream.key_by(lambda pair: pair[0]).process(pipelines.Profile()).uid("visitors")

    with start_from(path, visitors, parallelism=3) as harness:
        harness.process(("ann", HOME), 2_000)
        assert harness.outputs() == [("ann", 2)]


def test_the_savepoint_that_another_is_made_from_is_not_changed(tmp_path: Path, existing: str) -> None:
    def content() -> dict[str, bytes]:
        return {str(file): file.read_bytes() for file in Path(existing).rglob("*") if file.is_file()}

    before = content()
    SavepointWriter.from_existing_savepoint(existing).remove_operator("profiles").write(f"{tmp_path}/s")
    assert content() == before


# ------------------------------------------------------------------ errors


def test_a_directory_that_is_in_use_is_not_written_to(tmp_path: Path, existing: str) -> None:
    with pytest.raises(ArgumentError, match="something at .* already"):
        SavepointWriter.new_savepoint().write(existing)


class Breaks(KeyedStateBootstrapFunction):
    def process_element(self, value: Any, ctx: Any) -> None:
        if value == 13:
            raise RuntimeError("unlucky")


def test_a_function_that_fails_is_told_with_its_record_and_nothing_is_left(tmp_path: Path) -> None:
    writer = SavepointWriter.new_savepoint().with_operator(
        "numbers", OperatorTransformation.bootstrap_with(range(20)).key_by(lambda n: n).transform(Breaks())
    )
    with pytest.raises(OperatorError, match=r"(?s)RuntimeError: unlucky.*operator 'numbers' built at .*record: 13"):
        writer.write(f"{tmp_path}/s")
    assert not list((tmp_path / "s").rglob("*"))


def test_an_operator_is_replaced_only_after_it_was_removed(existing: str) -> None:
    writer = SavepointWriter.from_existing_savepoint(existing)
    with pytest.raises(ArgumentError, match="there is an operator 'profiles' already; call remove_operator"):
        writer.with_operator("profiles", bootstrap([]))


def test_an_operator_that_is_not_there_cannot_be_removed(existing: str) -> None:
    with pytest.raises(StateNotFoundError, match="did you mean 'windows'"):
        SavepointWriter.from_existing_savepoint(existing).remove_operator("window")


def test_values_must_fit_the_declared_type_of_their_state(tmp_path: Path) -> None:
    transformation = OperatorTransformation.keyed_state([("ann", {"count": "many"})], [COUNT])
    with pytest.raises(OperatorError, match=r"(?s)declared type Long does not accept 'many'.*record: \('ann'"):
        SavepointWriter.new_savepoint().with_operator("profiles", transformation).write(f"{tmp_path}/s")


def test_states_without_a_descriptor_are_refused_where_there_are_descriptors(tmp_path: Path) -> None:
    transformation = OperatorTransformation.keyed_state([("ann", {"cuont": 1})], [COUNT])
    with pytest.raises(OperatorError, match="no descriptor for the state 'cuont'; there are descriptors for 'count'"):
        SavepointWriter.new_savepoint().with_operator("profiles", transformation).write(f"{tmp_path}/s")


class Yields(KeyedStateBootstrapFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value


def test_functions_with_results_are_refused() -> None:
    records = OperatorTransformation.bootstrap_with([1]).key_by(lambda n: n)
    with pytest.raises(ArgumentTypeError, match=r"Yields.process_element yields, but .* has no output"):
        records.transform(Yields())
    with pytest.raises(ArgumentTypeError, match="The input must be a KeyedStateBootstrapFunction"):
        records.transform(Process())  # type: ignore[arg-type]


class Process(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        return None


@pytest.mark.parametrize("records", [5, None])
def test_records_are_iterable_or_a_dataframe(records: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="expected an iterable of records or a Spark DataFrame"):
        OperatorTransformation.bootstrap_with(records)


def test_a_pandas_dataframe_is_not_taken_for_records() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ArgumentTypeError, match="itertuples"):
        OperatorTransformation.bootstrap_with(pandas.DataFrame({"a": [1]}))


@pytest.mark.parametrize("groups", [0, 32_769])
def test_the_number_of_key_groups_has_limits(groups: int) -> None:
    with pytest.raises(ArgumentError, match=f"between 1 and 32768, not {groups}"):
        SavepointWriter.new_savepoint(groups)


def test_window_functions_fold_as_in_the_job(tmp_path: Path) -> None:
    transformation = in_windows(TumblingEventTimeWindows.of(Time.seconds(10))).aggregate(Seconds())
    path = SavepointWriter.new_savepoint().with_operator("windows", transformation).write(f"{tmp_path}/s")
    states = SavepointReader.read(path).window_state("windows")
    found = {state.key: Mean().get_result(state.contents) for state in states}
    assert found == {"ann": 6.0, "bob": 1.0}


def test_functions_are_those_that_were_given_whatever_becomes_of_what_they_use(tmp_path: Path) -> None:
    made: dict[str, Any] = {}
    for name, amount in (("one", 1), ("ten", 10)):

        class Adds(KeyedStateBootstrapFunction):
            def open(self, runtime_context: Any) -> None:
                self.count = runtime_context.get_state(COUNT)

            def process_element(self, value: Any, ctx: Any) -> None:
                self.count.update((self.count.value() or 0) + amount)  # noqa: B023

        keyed = OperatorTransformation.bootstrap_with(["ann"]).key_by(lambda user: f"{user} {name}")  # noqa: B023
        made[name] = keyed.transform(Adds())
    writer = SavepointWriter.new_savepoint()
    for name, transformation in made.items():
        writer = writer.with_operator(name, transformation)
    found = SavepointReader.read(writer.write(f"{tmp_path}/s"))
    counts = [(key, states["count"]) for name in made for key, states in found.keyed_state(name)]
    assert counts == [("ann one", 1), ("ann ten", 10)]


def test_a_function_that_cannot_be_sent_to_workers_is_refused_where_it_is_given() -> None:
    class Holds(Counts):
        def __init__(self) -> None:
            self.lock = threading.Lock()

    keyed = OperatorTransformation.bootstrap_with(["ann"]).key_by(lambda user: user)
    with pytest.raises(UnpicklableFunctionError, match=r"test_writing.py:\d+ cannot be sent to workers: self.lock"):
        keyed.transform(Holds())
