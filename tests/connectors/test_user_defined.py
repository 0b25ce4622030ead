"""Sources and sinks as users write them; docs/connectors/user-defined.md has a whole one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Configuration, Types
from scurry.connectors.source import BatchLimits, ChunkSizer
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors import Committer, Sink, SinkWriter, SplitSource, WriterContext
from scurry.errors import ArgumentError, ArgumentTypeError, JobError, ScurryError
from support.chunks import present

RESTARTS = {"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.attempts": "2",
            "restart-strategy.fixed-delay.delay": "10 ms"}  # fmt: skip
RUNNERS = ["local", pytest.param("spark", marks=pytest.mark.spark)]


class Shelves(SplitSource):
    """Numbered books on shelves."""

    def __init__(self, **sizes: int) -> None:
        self.sizes = sizes
        self.told: list[dict[str, int]] = []

    def splits(self) -> Iterable[str]:
        return list(self.sizes)

    def advance(self, split: str, position: int, limit: int) -> int:
        return min(position + limit, self.sizes[split])

    def read_split(self, split: str, start: int, end: int) -> Iterable[str]:
        return (f"{split}{number}" for number in range(start, end))

    def committed(self, positions: Any) -> None:
        self.told.append(dict(positions))


class Live(Shelves):
    bounded = False


def enumerator(source: SplitSource, channels: int = 2, max_records: int = 100) -> Any:
    return source.create_enumerator(channels, BatchLimits(max_records=max_records))


def dealt(enumerator: Any) -> list[Any]:
    return [(a.channel, a.work, a.final) for a in enumerator.next_batch()]


def read(source: SplitSource, work: Any) -> list[Any]:
    return [value for values, _ in present(source.read(work, ChunkSizer())) for value in values]


class TestSources:
    def test_splits_are_shared_out_and_read_to_their_ends(self) -> None:
        books = enumerator(Shelves(a=1, b=2, c=3))
        assert dealt(books) == [(0, [("a", 0, 1), ("c", 0, 3)], True), (1, [("b", 0, 2)], True)]
        assert dealt(books) == []

    def test_a_micro_batch_takes_no_more_than_it_may(self) -> None:
        books = enumerator(Shelves(a=3, b=1), max_records=4)
        assert dealt(books) == [(0, [("a", 0, 2)], False), (1, [("b", 0, 1)], True)]
        assert dealt(books) == [(0, [("a", 2, 3)], True)]

    @pytest.mark.parametrize("kind", [Shelves, Live])
    def test_a_job_that_falls_behind_gets_smaller_micro_batches(self, kind: type[Shelves]) -> None:
        books = enumerator(kind(a=30), 1, max_records=20)
        assert books.obeys_limits and books.backlog() is None
        assert dealt(books) == [(0, [("a", 0, 20)], False)] and books.backlog().more
        books.limit(BatchLimits(max_records=4), {})
        assert dealt(books) == [(0, [("a", 20, 24)], False)] and books.backlog().more
        books.limit(BatchLimits(max_records=20), {})
        assert dealt(books) == [(0, [("a", 24, 30)], kind.bounded)] and books.backlog() is None

    def test_a_source_that_moves_by_itself_is_not_held_back(self) -> None:
        class Slow(Shelves):
            def advance(self, split: str, position: int, limit: int) -> int:
                return min(position + 1, self.sizes[split])

        books = enumerator(Slow(a=3), 1)
        assert dealt(books) == [(0, [("a", 0, 1)], False)] and books.backlog() is None

    def test_readers_without_splits_end_at_once(self) -> None:
        assert dealt(enumerator(Shelves(a=1))) == [(0, [("a", 0, 1)], True), (1, None, True)]
        assert dealt(enumerator(Shelves())) == [(0, None, True), (1, None, True)]

    def test_one_that_never_ends_finds_new_records_and_new_splits(self) -> None:
        source = Live(a=1)
        books = enumerator(source)
        assert dealt(books) == [(0, [("a", 0, 1)], False)]
        assert dealt(books) == []
        source.sizes.update(a=2, b=1)
        assert dealt(books) == [(0, [("a", 1, 2)], False), (1, [("b", 0, 1)], False)]
        assert books.idle_hint() == source.poll_seconds

    @pytest.mark.parametrize("channels", [2, 3])
    def test_one_goes_on_where_it_was_with_any_number_of_readers(self, channels: int) -> None:
        source = Shelves(a=4, b=3, c=1)
        before = enumerator(source, max_records=6)
        found = [value for a in before.next_batch() for value in read(source, a.work)]
        after = enumerator(source, channels)
        after.restore(json.loads(json.dumps(before.position())))
        rest = after.next_batch()
        found += [value for a in rest if a.work for value in read(source, a.work)]
        assert sorted(found) == ["a0", "a1", "a2", "a3", "b0", "b1", "b2", "c0"]
        assert all(a.final for a in rest)
        assert after.next_batch() == []

    def test_one_is_told_what_is_committed(self) -> None:
        source = Shelves(a=1, b=2)
        books = enumerator(source)
        books.next_batch()
        books.committed()
        assert source.told == [{"a": 1, "b": 2}]

    def test_positions_may_be_anything_json_has(self) -> None:
        class Pages(Shelves):
            def start(self, split: str) -> Any:
                return ("first", None)

            def advance(self, split: str, position: Any, limit: int) -> Any:
                return ("last", 7)

        assert dealt(enumerator(Pages(a=1), 1)) == [(0, [("a", ["first", None], ["last", 7])], True)]

    def test_records_are_converted_to_their_type(self) -> None:
        class Typed(Shelves):
            produced_type = Types.TUPLE([Types.STRING(), Types.INT()])

            def read_split(self, split: str, start: int, end: int) -> Any:
                return [(split, 1.5)]

        assert read(Typed(), [("a", 0, 1)]) == [("a", 1)]

    def test_what_is_no_position_is_refused(self) -> None:
        class Wrong(Shelves):
            def advance(self, split: str, position: int, limit: int) -> Any:
                return {1, 2}

        with pytest.raises(ArgumentError, match=r"Wrong\.advance\(\) returned \{1, 2\}; positions are"):
            enumerator(Wrong(a=1)).next_batch()

    def test_what_is_no_name_of_a_split_is_refused(self) -> None:
        class Wrong(Shelves):
            def splits(self) -> Any:
                return [1]

        with pytest.raises(ArgumentTypeError, match=r"Wrong\.splits\(\) returns names"):
            enumerator(Wrong()).next_batch()


class Lines(Sink):
    """A file per micro-batch, which is written again if the micro-batch is."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def create_writer(self, context: WriterContext) -> SinkWriter:
        return Collecting()

    def create_committer(self, sink_id: str) -> Committer:
        return Files(self.directory)


class Collecting(SinkWriter):
    def __init__(self) -> None:
        self.values: list[Any] = []

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        self.values += values

    def prepare_commit(self) -> list[Any]:
        return self.values


class Files(Committer):
    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def commit(self, batch_id: int, committables: Sequence[Any]) -> None:
        (self.directory / str(batch_id)).write_text("".join(f"{line}\n" for line in committables))
        failed = self.directory.parent / "commit failed"
        if not failed.exists():  # after it is done, the worst moment
            failed.touch()
            raise ConnectionError("the answer is lost")


def environment(runner: str, **settings: str) -> StreamExecutionEnvironment:
    configuration = {"scurry.runner": runner, "parallelism.default": "2", "pipeline.max-parallelism": "8"}
    configuration |= {"execution.runtime-mode": "STREAMING", "scurry.batch.max-records": "20", **RESTARTS}
    return StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(configuration | settings))


def failing_once(mark: Path, record: str) -> Any:
    def same(value: str) -> str:
        if value == record and not mark.exists():
            mark.touch()
            raise ConnectionError("not yet")
        return value

    return same


@pytest.mark.parametrize("runner", RUNNERS)
def test_records_go_through_restarts_exactly_once(tmp_path: Path, runner: str) -> None:
    (tmp_path / "out").mkdir()
    env = environment(runner)
    books = env.from_source(Shelves(a=30, b=10, c=1), None, "books")
    numbered = books.map(failing_once(tmp_path / "map failed", "a25"), output_type=Types.STRING())
    counts = numbered.key_by(lambda book: book[0]).map(lambda book: book, output_type=Types.STRING())
    counts.sink_to(Lines(tmp_path / "out"))
    env.execute()
    assert (tmp_path / "map failed").exists() and (tmp_path / "commit failed").exists()
    found = sorted(line for file in (tmp_path / "out").iterdir() for line in file.read_text().split())
    assert found == sorted([*(f"a{n}" for n in range(30)), *(f"b{n}" for n in range(10)), "c0"])


def test_one_that_ends_can_be_read_in_batch(tmp_path: Path) -> None:
    env = environment("local", **{"execution.runtime-mode": "BATCH"})
    with env.from_source(Shelves(a=30, b=2), None, "books").execute_and_collect() as found:
        assert len(list(found)) == 32


def test_one_that_never_ends_is_refused_in_batch() -> None:
    env = environment("local", **{"execution.runtime-mode": "BATCH"})
    env.from_source(Live(a=1), None, "books").print()
    with pytest.raises(ScurryError, match="BATCH"):
        env.execute()


def test_an_error_of_ones_own_ends_the_job(tmp_path: Path) -> None:
    class Broken(Shelves):
        def read_split(self, split: str, start: int, end: int) -> Any:
            raise LookupError(f"shelf {split} has gone")

    env = environment("local", **{"restart-strategy.type": "none"})
    with (
        pytest.raises(JobError, match="shelf a has gone"),
        env.from_source(Broken(a=1), None, "books").execute_and_collect() as found,
    ):
        list(found)
