"""Beam pipelines on ScurryRunner: run by tests/beam/test_beam.py in an environment that has Beam."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.metrics import Metrics, MetricsFilter
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.pvalue import AsDict, AsIter, AsList, AsMultiMap, AsSingleton
from apache_beam.runners.runner import PipelineState
from apache_beam.testing.test_stream import TestStream
from apache_beam.testing.util import assert_that, equal_to
from apache_beam.transforms import trigger, userstate, window
from apache_beam.transforms.periodicsequence import PeriodicImpulse
from apache_beam.utils.windowed_value import PaneInfoTiming

from scurry.beam import ScurryRunner
from scurry.errors import ArgumentError, JobError, UnsupportedError

OPTIONS = [f"--scurry_runner={os.environ.get('SCURRY_BEAM_TEST_RUNNER', 'local')}"]


def pipeline(*options: str) -> Any:
    return beam.Pipeline(runner=ScurryRunner(), options=PipelineOptions([*OPTIONS, *options]))


def stamped(values: list[tuple[Any, int]]) -> Any:
    return beam.Create(values) | beam.MapTuple(lambda value, at: window.TimestampedValue(value, at))


@pytest.fixture(params=["1", "4"])
def parallelism(request: pytest.FixtureRequest) -> str:
    return f"--scurry_config=parallelism.default={request.param}"


def test_elements_are_mapped_and_grouped(parallelism: str) -> None:
    with pipeline(parallelism) as p:
        pairs = p | beam.Create([("a", 1), ("b", 2), ("a", 3)]) | beam.Map(lambda pair: (pair[0], pair[1] * 10))
        grouped = pairs | beam.GroupByKey() | beam.MapTuple(lambda key, values: (key, sorted(values)))
        assert_that(grouped, equal_to([("a", [10, 30]), ("b", [20])]))


def test_keys_of_any_type_with_a_coder_are_grouped(parallelism: str) -> None:
    with pipeline(parallelism) as p:
        pairs = p | beam.Create([((1, "x"), 1), ((1, "x"), 2), (None, 3), (b"k", 4), (2.5, 5)])
        assert_that(pairs | beam.CombinePerKey(sum), equal_to([((1, "x"), 3), (None, 3), (b"k", 4), (2.5, 5)]))


def test_combiners_are_lifted(parallelism: str) -> None:
    with pipeline(parallelism) as p:
        pairs = p | beam.Create(range(1000)) | beam.Map(lambda n: (n % 7, n))
        expected = [(key, sum(range(key, 1000, 7))) for key in range(7)]
        assert_that(pairs | beam.CombinePerKey(sum), equal_to(expected))


def test_an_empty_collection_has_a_global_sum() -> None:
    with pipeline() as p:
        assert_that(p | beam.Create([]) | beam.CombineGlobally(sum), equal_to([0]))


def test_outputs_go_by_tag() -> None:
    def split(n: int) -> Iterator[Any]:
        yield beam.pvalue.TaggedOutput("odd" if n % 2 else "even", n)
        yield -n

    with pipeline() as p:
        found = p | beam.Create([1, 2, 3]) | beam.FlatMap(split).with_outputs("odd", "even", main="all")
        assert_that(found.odd, equal_to([1, 3]), "odd")
        assert_that(found.even, equal_to([2]), "even")
        assert_that(found.all, equal_to([-1, -2, -3]), "all")


def test_side_inputs_are_complete_in_every_view(parallelism: str) -> None:
    def joined(x: int, one: int, some: Any, listed: list[Any], named: dict[str, int], many: Any) -> Any:
        return x, one, sorted(some), sorted(listed), named, {key: sorted(many[key]) for key in ("a", "b")}

    with pipeline(parallelism) as p:
        ones, pairs = p | "one" >> beam.Create([7]), p | "pairs" >> beam.Create([("a", 1), ("b", 2)])
        more = p | "more" >> beam.Create([("a", 1), ("b", 2), ("a", 3)])
        views = (AsSingleton(ones), AsIter(ones), AsList(pairs), AsDict(pairs), AsMultiMap(more))
        found = p | beam.Create([1, 2]) | beam.Map(joined, *views)
        expected = (7, [7], [("a", 1), ("b", 2)], {"a": 1, "b": 2}, {"a": [1, 3], "b": [2]})
        assert_that(found, equal_to([(1, *expected), (2, *expected)]))


def test_a_side_input_of_windows_is_that_of_the_element() -> None:
    with pipeline() as p:
        side = p | "side" >> stamped([("s1", 1), ("s2", 11)]) | "w1" >> beam.WindowInto(window.FixedWindows(10))
        main = p | "main" >> stamped([("m1", 2), ("m2", 12)]) | "w2" >> beam.WindowInto(window.FixedWindows(10))
        found = main | beam.Map(lambda x, texts: (x, list(texts)), AsIter(side))
        assert_that(found, equal_to([("m1", ["s1"]), ("m2", ["s2"])]))


def test_collections_are_flattened() -> None:
    with pipeline() as p:
        one, two = p | "1" >> beam.Create([1, 2]), p | "2" >> beam.Create([3])
        assert_that((one, two, one) | beam.Flatten(), equal_to([1, 2, 1, 2, 3]))


def test_a_reshuffle_keeps_times_and_windows(parallelism: str) -> None:
    with pipeline(parallelism) as p:
        found = (
            p
            | stamped([("a", 1), ("b", 12)])
            | beam.WindowInto(window.FixedWindows(10))
            | beam.Reshuffle()
            | beam.Map(lambda x, at=beam.DoFn.TimestampParam, w=beam.DoFn.WindowParam: (x, float(at), float(w.start)))
        )
        assert_that(found, equal_to([("a", 1.0, 0.0), ("b", 12.0, 10.0)]))


@pytest.mark.parametrize(
    "windows, expected",
    [
        (window.FixedWindows(10), {(0, 10): 3, (10, 20): 4, (20, 30): 8}),
        (window.SlidingWindows(20, 10), {(-10, 10): 3, (0, 20): 7, (10, 30): 12, (20, 40): 8}),
        (window.Sessions(5), {(1, 7): 3, (14, 19): 4, (25, 30): 8}),
    ],
    ids=["fixed", "sliding", "sessions"],
)
def test_sums_are_those_of_windows(windows: Any, expected: Any, parallelism: str) -> None:
    with pipeline(parallelism) as p:
        found = (
            p
            | stamped([(("k", 1), 1), (("k", 2), 2), (("k", 4), 14), (("k", 8), 25)])
            | beam.WindowInto(windows)
            | beam.CombinePerKey(sum)
            | beam.MapTuple(lambda _, total, w=beam.DoFn.WindowParam: ((int(w.start), int(w.end)), total))
        )
        assert_that(found, equal_to(list(expected.items())))


def test_a_group_has_the_earliest_time_if_its_windows_say_so() -> None:
    with pipeline() as p:
        earliest = beam.WindowInto(
            window.FixedWindows(10), timestamp_combiner=window.TimestampCombiner.OUTPUT_AT_EARLIEST
        )
        found = (
            p
            | stamped([(("k", 1), 3), (("k", 2), 2)])
            | earliest
            | beam.GroupByKey()
            | beam.Map(lambda _, at=beam.DoFn.TimestampParam: float(at))
        )
        assert_that(found, equal_to([2.0]))


def test_panes_are_those_of_the_trigger() -> None:
    with pipeline() as p:
        repeated = beam.WindowInto(
            window.GlobalWindows(),
            trigger=trigger.Repeatedly(trigger.AfterCount(2)),
            accumulation_mode=trigger.AccumulationMode.DISCARDING,
        )
        found = p | beam.Create([("k", 1)] * 4) | repeated | beam.CombinePerKey(sum) | beam.Values()
        assert_that(found | beam.CombineGlobally(sum).without_defaults(), equal_to([4]))


class Numbered(beam.DoFn):
    """Number the values of each key, and emit their count at a timer."""

    COUNT = userstate.CombiningValueStateSpec("count", sum)
    END = userstate.TimerSpec("end", userstate.TimeDomain.WATERMARK)

    def process(
        self,
        pair: tuple[str, str],
        count: Any = beam.DoFn.StateParam(COUNT),
        end: Any = beam.DoFn.TimerParam(END),
    ) -> Iterator[Any]:
        count.add(1)
        end.set(100)
        yield pair[0], count.read()

    @userstate.on_timer(END)
    def total(self, key: Any = beam.DoFn.KeyParam, count: Any = beam.DoFn.StateParam(COUNT)) -> Iterator[Any]:
        yield key, -count.read()


def test_state_and_timers_are_those_of_a_key(parallelism: str) -> None:
    with pipeline(parallelism) as p:
        found = p | beam.Create([("a", "x"), ("b", "y"), ("a", "z")]) | beam.ParDo(Numbered())
        assert_that(found, equal_to([("a", 1), ("a", 2), ("b", 1), ("a", -2), ("b", -1)]))


class Sorted(beam.DoFn):
    """Emit the values of a key between two times, in order, from an ordered list, and the different ones of a set."""

    LIST = userstate.OrderedListStateSpec("list", beam.coders.StrUtf8Coder())
    SET = userstate.SetStateSpec("set", beam.coders.StrUtf8Coder())
    END = userstate.TimerSpec("end", userstate.TimeDomain.WATERMARK)

    def process(
        self,
        pair: tuple[str, tuple[int, str]],
        kept: Any = beam.DoFn.StateParam(LIST),
        different: Any = beam.DoFn.StateParam(SET),
        end: Any = beam.DoFn.TimerParam(END),
    ) -> None:
        at, text = pair[1]
        kept.add((beam.utils.timestamp.Timestamp(at), text))
        different.add(text)
        end.set(100)

    @userstate.on_timer(END)
    def all_of_them(
        self, kept: Any = beam.DoFn.StateParam(LIST), different: Any = beam.DoFn.StateParam(SET)
    ) -> Iterator[Any]:
        at = beam.utils.timestamp.Timestamp
        yield [text for _, text in kept.read_range(at(2), at(9))], sorted(different.read())


def test_ordered_lists_and_sets_are_kept() -> None:
    with pipeline() as p:
        found = p | beam.Create([("k", (5, "b")), ("k", (2, "a")), ("k", (9, "c")), ("k", (3, "a"))])
        assert_that(found | beam.ParDo(Sorted()), equal_to([(["a", "a", "b"], ["a", "b", "c"])]))


class Chained(beam.DoFn):
    """Set a timer from a timer, until it has fired three times."""

    FIRED = userstate.CombiningValueStateSpec("fired", sum)
    AGAIN = userstate.TimerSpec("again", userstate.TimeDomain.WATERMARK)

    def process(self, pair: Any, again: Any = beam.DoFn.TimerParam(AGAIN)) -> None:
        again.set(1)

    @userstate.on_timer(AGAIN)
    def fire(
        self,
        at: Any = beam.DoFn.TimestampParam,
        fired: Any = beam.DoFn.StateParam(FIRED),
        again: Any = beam.DoFn.TimerParam(AGAIN),
    ) -> Iterator[float]:
        yield float(at)
        fired.add(1)
        if fired.read() < 3:
            again.set(at + 1)


def test_timers_that_timers_set_fire() -> None:
    with pipeline() as p:
        assert_that(p | beam.Create([("k", 0)]) | beam.ParDo(Chained()), equal_to([1.0, 2.0, 3.0]))


def test_files_are_read_and_written(tmp_path: Path, parallelism: str) -> None:
    (tmp_path / "in.txt").write_text("one two\ntwo\n" * 100)
    with pipeline(parallelism) as p:
        counts = (
            p
            | beam.io.ReadFromText(str(tmp_path / "in.txt"))
            | beam.FlatMap(str.split)
            | beam.combiners.Count.PerElement()
            | beam.MapTuple(lambda word, count: f"{word} {count}")
        )
        counts | beam.io.WriteToText(str(tmp_path / "out"))
    written = [line for file in tmp_path.glob("out*") for line in file.read_text().splitlines()]
    assert sorted(written) == ["one 100", "two 200"]


def test_metrics_are_those_of_all_bundles() -> None:
    class Measured(beam.DoFn):
        def process(self, n: int) -> None:
            Metrics.counter("ns", "seen").inc()
            Metrics.distribution("ns", "size").update(n)
            Metrics.string_set("ns", "texts").add(str(n))

    p = pipeline()
    p | beam.Create([1, 2, 3]) | beam.ParDo(Measured())
    result = p.run()
    assert result.wait_until_finish() == result.state == PipelineState.DONE
    found = result.metrics().query(MetricsFilter().with_namespace("ns"))
    assert [each.committed for each in found["counters"]] == [3]
    (size,) = found["distributions"]
    assert (size.committed.sum, size.committed.count, size.committed.min, size.committed.max) == (6, 3, 1, 3)
    assert [each.committed for each in found["string_sets"]] == [{"1", "2", "3"}]


def test_the_error_of_a_function_names_its_step() -> None:
    def fail(x: int) -> int:
        raise ValueError(f"bad {x}")

    with pytest.raises(JobError, match=r"bad 1(.|\n)*while running 'Failing'"), pipeline() as p:
        p | beam.Create([1]) | "Failing" >> beam.Map(fail)


def test_a_wait_ends_after_its_milliseconds_and_cancel_stops() -> None:
    import time

    def slowly(x: int) -> int:
        time.sleep(0.05)
        return x

    p = pipeline()
    p | beam.Create(range(1000)) | beam.Map(slowly)
    result = p.run()
    assert result.wait_until_finish(duration=10) == PipelineState.RUNNING
    assert result.cancel() == result.wait_until_finish() == PipelineState.CANCELLED


def test_settings_are_checked() -> None:
    with pytest.raises(ArgumentError, match="write it as key=value"), pipeline("--scurry_config=nonsense") as p:
        p | beam.Create([1])


def test_what_is_not_supported_is_named() -> None:
    with pytest.raises(UnsupportedError, match="'Map.*side input.*STREAMING"), pipeline("--streaming") as p:
        p | beam.Create([1]) | beam.Map(lambda x, y: x, AsIter(p | "side" >> beam.Create([2])))
    with pytest.raises(UnsupportedError, match="processing time"), pipeline() as p:
        p | TestStream().add_elements([1]).advance_processing_time(1)
    with pytest.raises(UnsupportedError, match="unbounded splittable DoFn"), pipeline("--streaming") as p:
        p | PeriodicImpulse()


# ------------------------------------------------------------------ STREAMING


def in_windows(p: Any, stream: TestStream, windows: beam.WindowInto) -> Any:
    return (
        p
        | stream
        | beam.Map(lambda pair: pair).with_output_types(tuple[str, int])
        | windows
        | beam.GroupByKey()
        | beam.MapTuple(lambda key, values, pane=beam.DoFn.PaneInfoParam: (key, sorted(values), timing(pane)))
    )


def timing(pane: Any) -> str:
    return str(PaneInfoTiming.to_string(pane.timing))


def stamped_pairs(*pairs: tuple[str, int]) -> list[Any]:
    return [window.TimestampedValue(pair, pair[1]) for pair in pairs]


def test_windows_of_a_stream_fire_when_the_watermark_passes_and_again_for_late_elements() -> None:
    stream = (
        TestStream()
        .add_elements(stamped_pairs(("a", 1), ("a", 2), ("b", 3), ("a", 11)))
        .advance_watermark_to(10)
        .add_elements(stamped_pairs(("a", 4)))
        .advance_watermark_to(20)
        .add_elements(stamped_pairs(("b", 5), ("a", 12)))
        .advance_watermark_to_infinity()
    )
    windows = beam.WindowInto(
        window.FixedWindows(10),
        trigger=trigger.AfterWatermark(late=trigger.AfterCount(1)),
        accumulation_mode=trigger.AccumulationMode.ACCUMULATING,
        allowed_lateness=5,
    )
    with pipeline("--streaming") as p:
        expected = [
            ("a", [1, 2], "ON_TIME"), ("b", [3], "ON_TIME"), ("a", [1, 2, 4], "LATE"), ("a", [11], "ON_TIME"),
            ("a", [11, 12], "LATE"),
        ]  # fmt: skip
        assert_that(in_windows(p, stream, windows), equal_to(expected))


def test_a_wrong_result_of_a_stream_is_noticed() -> None:
    stream = TestStream().add_elements(stamped_pairs(("a", 1))).advance_watermark_to_infinity()
    with pytest.raises(JobError, match="Failed assert"), pipeline("--streaming") as p:
        assert_that(in_windows(p, stream, beam.WindowInto(window.FixedWindows(10))), equal_to([]))


def test_early_panes_are_emitted_before_the_window_ends() -> None:
    stream = (
        TestStream()
        .add_elements(stamped_pairs(("a", 1), ("a", 2)))
        .add_elements(stamped_pairs(("a", 3)))
        .advance_watermark_to(10)
        .advance_watermark_to_infinity()
    )
    windows = beam.WindowInto(
        window.FixedWindows(10),
        trigger=trigger.AfterWatermark(early=trigger.AfterCount(2)),
        accumulation_mode=trigger.AccumulationMode.DISCARDING,
    )
    with pipeline("--streaming") as p:
        assert_that(in_windows(p, stream, windows), equal_to([("a", [1, 2], "EARLY"), ("a", [3], "ON_TIME")]))


def test_sessions_of_a_stream_merge() -> None:
    stream = (
        TestStream()
        .add_elements(stamped_pairs(("a", 1), ("a", 9), ("b", 1)))
        .advance_watermark_to(3)
        .add_elements(stamped_pairs(("a", 5)))
        .advance_watermark_to_infinity()
    )
    with pipeline("--streaming") as p:
        found = in_windows(p, stream, beam.WindowInto(window.Sessions(5)))
        assert_that(found, equal_to([("a", [1, 5, 9], "ON_TIME"), ("b", [1], "ON_TIME")]))


class AtTheWatermark(beam.DoFn):
    """Emit the sum of a key at a timer, ten seconds behind its first element."""

    SUM = userstate.CombiningValueStateSpec("sum", sum)
    TIMER = userstate.TimerSpec("timer", userstate.TimeDomain.WATERMARK)

    def process(
        self,
        pair: tuple[str, int],
        total: Any = beam.DoFn.StateParam(SUM),
        timer: Any = beam.DoFn.TimerParam(TIMER),
        at: Any = beam.DoFn.TimestampParam,
    ) -> None:
        if not total.read():
            timer.set(at + 10)
        total.add(pair[1])

    @userstate.on_timer(TIMER)
    def emit(
        self,
        key: Any = beam.DoFn.KeyParam,
        total: Any = beam.DoFn.StateParam(SUM),
        at: Any = beam.DoFn.TimestampParam,
    ) -> Iterator[Any]:
        yield key, total.read(), float(at)
        total.clear()


def test_timers_of_a_stream_fire_at_the_watermark() -> None:
    stream = (
        TestStream()
        .add_elements(stamped_pairs(("a", 1), ("b", 2), ("a", 5)))
        .advance_watermark_to(11)
        .add_elements(stamped_pairs(("a", 20)))
        .advance_watermark_to_infinity()
    )
    with pipeline("--streaming") as p:
        pairs = p | stream | beam.Map(lambda pair: pair).with_output_types(tuple[str, int])
        expected = [("a", 6, 11.0), ("b", 2, 12.0), ("a", 20, 30.0)]
        assert_that(pairs | beam.ParDo(AtTheWatermark()), equal_to(expected))


def test_bounded_input_is_processed_in_streaming(parallelism: str) -> None:
    with pipeline("--streaming", parallelism) as p:
        pairs = p | beam.Create(range(100)) | beam.Map(lambda n: (n % 3, n)) | beam.Reshuffle()
        sums = [(key, sum(range(key, 100, 3))) for key in range(3)]
        assert_that(pairs | beam.CombinePerKey(sum), equal_to(sums), "sums")
        numbered = pairs | beam.Map(lambda pair: (str(pair[0]), "x")) | beam.ParDo(Numbered())
        totals = numbered | beam.Filter(lambda pair: pair[1] < 0)
        assert_that(totals, equal_to([("0", -34), ("1", -33), ("2", -33)]), "totals")


def test_state_survives_a_failure(tmp_path: Path) -> None:
    failed = tmp_path / "failed"

    def fail_once(pair: tuple[str, int]) -> tuple[str, int]:
        if pair[1] == 3 and not failed.exists():
            failed.touch()
            raise RuntimeError("once")
        return pair

    stream = TestStream()
    for n in range(6):
        stream.add_elements(stamped_pairs(("a", n)))
    settings = [
        f"--scurry_config=execution.checkpointing.dir={tmp_path / 'checkpoint'}",
        "--scurry_config=restart-strategy.type=fixed-delay",
        "--scurry_config=restart-strategy.fixed-delay.attempts=2",
        "--scurry_config=restart-strategy.fixed-delay.delay=10 ms",
    ]
    with pipeline("--streaming", *settings) as p:
        pairs = p | stream.advance_watermark_to_infinity() | beam.Map(fail_once).with_output_types(tuple[str, int])
        assert_that(pairs | beam.ParDo(AtTheWatermark()), equal_to([("a", 15, 11.0)]), "state")
        windowed = pairs | beam.WindowInto(window.FixedWindows(100))
        grouped = windowed | beam.GroupByKey() | beam.MapTuple(lambda key, values: (key, sorted(values)))
        assert_that(grouped, equal_to([("a", [0, 1, 2, 3, 4, 5])]), "groups")
    assert failed.exists()
