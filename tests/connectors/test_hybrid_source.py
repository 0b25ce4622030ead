"""HybridSource: from one source to the next, with nothing lost or twice wherever the job fails."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scurry.common import Configuration, Time, Types, WatermarkStrategy
from scurry.common.serialization import Encoder
from scurry.common.watermark_strategy import TimestampAssigner
from scurry.connectors.collection import CollectionSource
from scurry.connectors.ranges import NumberSequenceSource
from scurry.connectors.source import Assignment, BatchLimits, ChunkSizer, Enumerator
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors import FileSink, FileSource, HybridSource, StreamFormat
from scurry.datastream.connectors.hybrid_source import HybridSourceBuilder, SourceSwitchContext
from scurry.datastream.functions import ProcessWindowFunction
from scurry.datastream.window import TumblingEventTimeWindows
from scurry.errors import ArgumentError, ArgumentTypeError
from support.chunks import present
from support.faults.failing_sink import FailingSink, fail_after

Drive = Callable[..., Any]

HISTORY, LIVE = 60, 60


def numbers(first: int, last: int) -> NumberSequenceSource:
    return NumberSequenceSource(first, last)


def after(context: SourceSwitchContext) -> NumberSequenceSource:
    """The ten numbers after the last of the sequence before."""
    source = context.previous_source
    assert isinstance(source, NumberSequenceSource)
    return numbers(source.end + 1, source.end + 10)


class Calls:
    """What factories note; a factory is captured, so it cannot note it in a variable of a test."""

    positions: ClassVar[list[dict[str, Any]]] = []


class TestASourceThatIsMadeLater:
    def test_is_made_from_the_one_before_it(self, drive: Drive) -> None:
        source = HybridSource.builder(numbers(1, 5)).add_source(after, bounded=True).build()
        assert drive(source).all() == list(range(1, 16))

    def test_is_made_when_the_one_before_it_is_read_and_committed(self, drive: Drive) -> None:
        Calls.positions.clear()

        def make(context: SourceSwitchContext) -> NumberSequenceSource:
            Calls.positions.append(context.previous_position)
            return after(context)

        driver = drive(HybridSource.builder(numbers(1, 4)).add_source(make, bounded=True).build())
        driver.source = HybridSource.builder(numbers(1, 4)).add_source(after, bounded=True).build()  # can be pickled
        assert driver.batch() == {0: [1, 2, 3, 4]}
        driver.enumerator.committed()
        assert not Calls.positions
        driver.batch()
        assert Calls.positions == [json.loads(json.dumps(Calls.positions[0]))]

    def test_may_ask_the_enumerator_of_the_one_before_it(self, drive: Drive) -> None:
        def make(context: SourceSwitchContext) -> NumberSequenceSource:
            assert context.get_previous_enumerator().next_batch() == []
            assert context.get_previous_enumerator().position() == context.previous_position
            return after(context)

        enumerator = HybridSource.builder(numbers(1, 2)).add_source(make).build().create_enumerator(1, BatchLimits())
        dealt = [enumerator.next_batch() for _ in range(2)]
        assert [bool(batch) for batch in dealt] == [True, True]

    def test_knows_the_newest_file_of_a_file_source(self, tmp_path: Path) -> None:
        for hour in ("01", "02"):
            (tmp_path / f"{hour}.txt").write_text("a\n")
        Calls.positions.clear()

        def make(context: SourceSwitchContext) -> Any:
            Calls.positions.append(context.previous_position)
            return CollectionSource(["z"], Types.STRING())

        files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(tmp_path)).build()
        enumerator = HybridSource.builder(files).add_source(make).build().create_enumerator(1, BatchLimits())
        enumerator.next_batch()
        enumerator.next_batch()
        assert [Path(position["newest"][1]).stem for position in Calls.positions] == ["02"]

    def test_may_hold_functions_that_only_travel_by_value(self) -> None:
        from scurry.datastream.connectors import DataGeneratorSource

        prefix = "n"

        def make(context: SourceSwitchContext) -> Any:
            return DataGeneratorSource(lambda n: f"{prefix}{n}", 3, type_info=Types.STRING())

        source = HybridSource.builder(CollectionSource(["a"], Types.STRING())).add_source(make).build()
        enumerator = source.create_enumerator(1, BatchLimits())
        works = [assignment.work for _ in range(2) for assignment in enumerator.next_batch() if assignment.work]
        assert [v for work in works for values, _ in present(source.read(work, ChunkSizer())) for v in values] == [
            "a", "n0", "n1", "n2",
        ]  # fmt: skip

    def test_that_needs_more_readers_than_there_are_says_what_to_do_and_the_job_then_goes_on(self) -> None:
        def build(channels: int | None) -> HybridSource:
            return (
                HybridSource.builder(CollectionSource([1]))
                .add_source(lambda _: numbers(2, 9), channels=channels)
                .build()
            )

        limits = BatchLimits()
        few = build(None).create_enumerator(1, limits)
        few.next_batch()
        position = json.loads(json.dumps(few.position()))
        source = HybridSource.builder(CollectionSource([1])).add_source(lambda _: Wide(), channels=None).build()
        failing = source.create_enumerator(1, limits)
        failing.restore(position)
        with pytest.raises(ArgumentError, match="with 3 readers, and there are 1; add it with channels=3"):
            failing.next_batch()
        enough = HybridSource.builder(CollectionSource([1])).add_source(lambda _: Wide(), channels=3).build()
        going_on = enough.create_enumerator(1, limits)
        going_on.restore(json.loads(json.dumps(failing.position())))
        assert {assignment.channel for assignment in going_on.next_batch()} == {0, 1, 2}

    @pytest.mark.parametrize(
        ("made", "bounded", "error", "words"),
        [
            ("no source", False, ArgumentTypeError, "factory of source 2 of a HybridSource returned 'no source'"),
            (CollectionSource(["a"], Types.STRING()), False, ArgumentTypeError, "records of type .*, the first has"),
        ],
    )
    def test_is_checked(self, made: Any, bounded: bool, error: type[Exception], words: str) -> None:
        source = HybridSource.builder(numbers(1, 2)).add_source(lambda _: made, bounded=bounded).build()
        enumerator = source.create_enumerator(1, BatchLimits())
        enumerator.next_batch()
        with pytest.raises(error, match=words):
            enumerator.next_batch()


class Wide(NumberSequenceSource):
    """Has three readers, whatever the parallelism, as a topic has partitions."""

    def __init__(self) -> None:
        super().__init__(1, 9)

    def channels(self, parallelism: int) -> int:
        return 3

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Any:
        return super().create_enumerator(3, limits)


class TestBuilder:
    def test_refuses_what_is_neither_a_source_nor_makes_one(self) -> None:
        with pytest.raises(ArgumentTypeError, match="takes a Source or a function that makes one, got 'topic'"):
            builder().add_source("topic")  # type: ignore[arg-type]

    def test_refuses_records_of_different_types(self) -> None:
        with pytest.raises(ArgumentTypeError, match="source 2 .* records of type .* both as strings"):
            builder().add_source(CollectionSource(["a"], Types.STRING())).build()

    def test_refuses_a_later_source_without_end_before_the_last(self) -> None:
        with pytest.raises(ArgumentError, match="source 2 of 3 in a HybridSource never ends"):
            builder().add_source(after).add_source(numbers(1, 2)).build()

    def test_refuses_to_be_told_what_a_source_knows_itself(self) -> None:
        with pytest.raises(ArgumentError, match="for a function that makes the source later"):
            builder().add_source(numbers(1, 2), channels=3)
        with pytest.raises(ArgumentError, match="1 or more"):
            builder().add_source(after, channels=0)


def builder() -> HybridSourceBuilder:
    return HybridSource.builder(numbers(1, 2))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lengths=st.lists(st.integers(0, 9), min_size=1, max_size=5),
    later=st.lists(st.booleans(), min_size=5, max_size=5),
    limit=st.integers(1, 7),
    parallelisms=st.lists(st.sampled_from([0, 0, 1, 2, 3]), min_size=60, max_size=60),
)
def test_every_record_is_read_once_and_source_by_source_whenever_the_job_is_started_again(
    drive: Drive, lengths: list[int], later: list[bool], limit: int, parallelisms: list[int]
) -> None:
    """After each batch the job goes on (0), or is started again with another parallelism."""
    starts = [100 * index for index in range(len(lengths))]
    sources = [
        numbers(start, start + length - 1) if length else CollectionSource([], Types.LONG())
        for start, length in zip(starts, lengths, strict=True)
    ]
    build = HybridSource.builder(sources[0])
    for source, is_later in zip(sources[1:], later, strict=False):
        build.add_source(Factory(source), bounded=True) if is_later else build.add_source(source)
    driver = drive(build.build(), 2, BatchLimits(max_records=limit))
    seen: list[int] = []
    for parallelism in parallelisms:
        if len(driver.final) == driver.source.channels(driver.parallelism):
            break
        batch = [number for values in driver.batch().values() for number in values]
        assert len({number // 100 for number in batch}) <= 1, "a batch mixes sources"
        assert not seen or not batch or max(number // 100 for number in seen) <= batch[0] // 100
        seen += batch
        if parallelism and len(driver.final) < driver.source.channels(driver.parallelism):
            driver.restart(parallelism)
    else:
        seen += driver.all()
    expected = zip(starts, lengths, strict=True)
    assert sorted(seen) == [number for start, length in expected for number in range(start, start + length)]


class Factory:
    def __init__(self, source: Any) -> None:
        self.source = source

    def __call__(self, context: SourceSwitchContext) -> Any:
        return self.source


class Narrow(NumberSequenceSource):
    """Has two readers, one of which ends long before the other."""

    def channels(self, parallelism: int) -> int:
        return 2

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Any:
        return Uneven()


class Uneven(Enumerator):
    def __init__(self) -> None:
        self._next = 0

    def next_batch(self) -> list[Assignment]:
        self._next += 1
        if self._next == 1:
            return [Assignment(0, [(0, 1)], True)]
        return [Assignment(1, None, True)] if self._next == 3 else []

    def position(self) -> dict[str, Any]:
        return {"next": self._next}

    def restore(self, position: dict[str, Any]) -> None:
        self._next = position["next"]


def test_channels_that_ended_are_said_to_be_final_again_when_the_number_of_channels_changes() -> None:
    """The source itself will not say so again: its own channels are the same."""

    def enumerator(parallelism: int) -> Enumerator:
        source = HybridSource.builder(numbers(1, 0 + parallelism)).add_source(Narrow(1, 2)).build()
        return source.create_enumerator(parallelism, BatchLimits())

    before = enumerator(4)
    before.next_batch()
    assert [(a.channel, a.final) for a in before.next_batch()] == [(0, True), (2, True), (3, True)]
    after_restart = enumerator(3)
    after_restart.restore(json.loads(json.dumps(before.position())))
    finals = [a.channel for _ in range(3) for a in after_restart.next_batch() if a.final]
    assert sorted(finals) == [0, 1, 2]


def test_sources_that_are_over_are_not_opened_again(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    archive.mkdir()
    (archive / "old.txt").write_text("a\nb\n")

    def build() -> HybridSource:
        files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(archive)).build()
        return HybridSource.builder(files).add_source(CollectionSource(["c"], Types.STRING())).build()

    first = build().create_enumerator(2, BatchLimits())
    first.next_batch()
    position = json.loads(json.dumps(first.position()))
    shutil.rmtree(archive)
    second = build().create_enumerator(2, BatchLimits())
    second.restore(position)
    (dealt,) = [assignment for assignment in second.next_batch() if assignment.work]
    assert [v for values, _ in present(build().read(dealt.work, ChunkSizer())) for v in values] == ["c"]


def test_a_position_in_a_source_that_was_removed_is_refused() -> None:
    position = {"source": 1, "channels": 1, "ended": [], "own": 1, "final": [], "current": None, "before": [{}]}
    with pytest.raises(ArgumentError, match="was reading source 2 of a HybridSource, which now has 1"):
        HybridSource.builder(numbers(1, 2)).build().create_enumerator(1, BatchLimits()).restore(position)


def test_a_position_of_an_earlier_release_has_its_final_channels_under_another_name() -> None:
    earlier = {"source": 0, "channels": 2, "ended": [1], "own": 2, "told": [1], "current": None, "before": []}
    enumerator = HybridSource.builder(numbers(1, 2)).build().create_enumerator(2, BatchLimits())
    enumerator.restore(earlier)
    assert enumerator.position()["final"] == [1]


# ---------------------------------------------------------------- a job across the switch


class Millisecond(TimestampAssigner):
    def extract_timestamp(self, value: str, record_timestamp: int) -> int:
        return int(value) * 100


class Sum(ProcessWindowFunction):
    def process(self, key: int, context: Any, elements: Iterable[str]) -> Iterator[str]:
        values = sorted(int(element) for element in elements)
        yield f"{key},{context.window().start},{len(values)},{sum(values)}"


def windows(first: int, last: int) -> list[str]:
    """What the job makes of the numbers from first to last."""
    found: dict[tuple[int, int], list[int]] = {}
    for number in range(first, last + 1):
        found.setdefault((number % 3, number * 100 // 2500 * 2500), []).append(number)
    return sorted(f"{key},{start},{len(values)},{sum(values)}" for (key, start), values in found.items())


def run(tmp_path: Path, blow_at: int | None) -> tuple[list[str], int]:
    """Files, then a source made where they end, into windows; what came of it, and how often sinks committed."""
    history, out, fuse = tmp_path / "history", tmp_path / "out", tmp_path / "fuse"
    history.mkdir(parents=True)
    for file in range(2):
        (history / f"{file}.txt").write_text("".join(f"{number}\n" for number in range(file, HISTORY, 2)))
    fail_after(fuse, 10**6 if blow_at is None else blow_at, "raise")
    configuration = Configuration()
    for name, value in {"scurry.runner": "local", "execution.runtime-mode": "STREAMING",
                        "scurry.batch.max-bytes": 40, "scurry.batch.max-records": 14,
                        "restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.attempts": 3,
                        "restart-strategy.fixed-delay.delay": "1 ms"}.items():  # fmt: skip
        configuration.set_string(name, str(value))
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(2)
    files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(history)).build()

    def live(context: SourceSwitchContext) -> Any:
        return CollectionSource([str(number) for number in range(HISTORY, HISTORY + LIVE)], Types.STRING())

    source = HybridSource.builder(files).add_source(live, bounded=True).build()
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Millisecond())
    stream = env.from_source(source, strategy, "history, then live")
    keyed = stream.key_by(lambda value: int(value) % 3, key_type=Types.INT())
    sums = keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(2500))).process(Sum(), Types.STRING())
    sums.sink_to(FileSink.for_row_format(str(out), Encoder.simple_string_encoder()).build())
    sums.sink_to(FailingSink(str(fuse)))
    env.execute("across the switch")
    files_out = [file for file in out.rglob("*") if file.is_file() and file.name[0] != "."]
    lines = [line for file in files_out for line in file.read_text().split()]
    left = int(fuse.read_text().split()[0]) if fuse.exists() else 0
    return sorted(lines), 10**6 - left


def test_windows_go_on_across_the_switch_wherever_the_job_fails(tmp_path: Path) -> None:
    expected = windows(0, HISTORY + LIVE - 1)
    found, commits = run(tmp_path / "undisturbed", None)
    assert found == expected
    assert commits >= 10
    for blow_at in range(commits):
        place = tmp_path / str(blow_at)
        found, _ = run(place, blow_at)
        assert found == expected, f"failed at commit {blow_at}"
        assert not (place / "fuse").exists(), "the fuse has not blown"
