"""Which batch a job goes on from when files of its checkpoint are damaged or missing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scurry.errors import CheckpointCorruptedError
from scurry.runtime.checkpoint.storage import LocalStorage
from scurry.runtime.exchange.wire import SplitAssignment
from scurry.runtime.savepoint.metadata import SourcePositions
from scurry.spark.checkpoint.assignment_log import AssignmentLog, LogEntry, LoggedAssignment
from scurry.spark.checkpoint.prepared import Preparing, noted_ends, prepared_batch
from scurry.spark.checkpoint.rollback import RestartPoint, Rollback, delete_state, known_to_sinks, not_computed_again

#: Batch n ends with assignment ENDS[n]: entries of two assignments each, one of which was split between two batches.
ENDS = [1, 3, 5, 6, 9, 11]
STATE = "state/0/0"


class Checkpoint:
    """A checkpoint of batches that were all committed, but for the last, which was at work."""

    def __init__(self, root: Path, first: int = 0) -> None:
        self.root = root
        self.notes: list[str] = []
        #: batches after which the state cannot be loaded
        self.unreadable: set[int] = set()
        for batch, end in list(enumerate(ENDS))[first:]:
            self.write(f"spark/offsets/{batch}", f'v1\n{{"conf":{{}}}}\n{end}')
            if batch < len(ENDS) - 1:
                self.write(f"spark/commits/{batch}", 'v1\n{"nextBatchWatermarkMs":0}')
            self.write(f"spark/{STATE}/{batch + 1}.changelog", "")
        log = AssignmentLog(LocalStorage(str(root)))
        for number in range(0, ENDS[-1] + 1, 2):
            if first == 0 or number + 1 >= ENDS[first]:
                pair = [LoggedAssignment(n, SplitAssignment(0, 0, f"work {n}", False)) for n in (number, number + 1)]
                log.write(LogEntry(pair, SourcePositions({"source": number + 2}, set())))

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def damage(self, name: str) -> None:
        self.write(name, "v1\n{")

    def delete(self, name: str) -> None:
        (self.root / name).unlink()

    @property
    def own(self) -> LocalStorage:
        return LocalStorage(str(self.root))

    @property
    def rollback(self) -> Rollback:
        own = self.own
        return Rollback(str(self.root), own, own.below("spark"), self._unreadable, self.notes.append)

    def _unreadable(self, batch: int) -> str | None:
        return "no such file" if batch in self.unreadable else None

    def restart(self) -> RestartPoint:
        return self.rollback.restart_point()

    def batches(self, log: str) -> list[int]:
        return sorted(int(path.name) for path in (self.root / "spark" / log).iterdir())

    def files(self) -> list[str]:
        return sorted(str(path.relative_to(self.root)) for path in self.root.rglob("*") if path.is_file())


@pytest.fixture
def checkpoint(tmp_path: Path) -> Checkpoint:
    return Checkpoint(tmp_path)


def entry(first: int) -> str:
    return AssignmentLog.path(first)


def numbers(point: RestartPoint) -> list[int]:
    return [logged.offset for entry in point.entries for logged in entry.assignments]


class TestAWholeCheckpoint:
    def test_is_left_alone(self, checkpoint: Checkpoint) -> None:
        before = checkpoint.files()
        point = checkpoint.restart()
        assert (point.committed, numbers(point), list(point.replays)) == (4, [8, 9, 10, 11], [11])
        assert checkpoint.files() == before
        assert checkpoint.notes == []

    def test_that_is_empty_begins_with_nothing(self, tmp_path: Path) -> None:
        own = LocalStorage(str(tmp_path))
        point = Rollback("", own, own.below("spark"), lambda _: None, lambda _: None).restart_point()
        assert point == RestartPoint(-1, [], [])

    def test_says_what_was_fed_and_never_planned(self, checkpoint: Checkpoint) -> None:
        checkpoint.delete("spark/offsets/5")
        point = checkpoint.restart()
        assert (point.committed, numbers(point), list(point.replays)) == (4, [8, 9, 10, 11], [])
        assert checkpoint.notes == []


class TestADamagedFile:
    @pytest.mark.parametrize(
        ("name", "committed", "replays"),
        [
            ("spark/commits/4", 3, [9, 11]),  # the batch is repeated as it was
            ("spark/offsets/4", 3, [7, 11]),  # nobody knows what it was; the next keeps its id
            ("spark/offsets/5", 4, []),  # the batch at work is planned again
            (entry(10), 4, []),  # its input was submitted: it is planned again, from what the sources assign again
        ],
    )
    def test_takes_the_job_back_to_before_it(
        self, checkpoint: Checkpoint, name: str, committed: int, replays: list[int]
    ) -> None:
        checkpoint.damage(name)
        point = checkpoint.restart()
        assert point.committed == committed
        assert checkpoint.batches("commits") == list(range(committed + 1))
        assert list(point.replays) == replays
        assert len(checkpoint.notes) == 1 and name in checkpoint.notes[0]
        assert checkpoint.restart() == point, "and then it is whole"
        assert len(checkpoint.notes) == 1

    @pytest.mark.parametrize("name", ["spark/commits/1", "spark/offsets/1", entry(2), entry(8)])
    def test_that_nobody_needs_any_more_does_not_matter(self, checkpoint: Checkpoint, name: str) -> None:
        checkpoint.damage(name)
        assert checkpoint.restart().committed == 4
        assert checkpoint.notes == []

    def test_that_is_missing_counts_as_damaged(self, checkpoint: Checkpoint) -> None:
        checkpoint.delete("spark/offsets/4")
        checkpoint.delete("spark/offsets/5")
        assert checkpoint.restart().committed == 3
        assert "spark/offsets/4 is missing" in checkpoint.notes[0]

    def test_has_the_state_of_later_batches_deleted(self, checkpoint: Checkpoint) -> None:
        checkpoint.write(f"spark/{STATE}/5.zip", "")
        checkpoint.damage("spark/commits/4")
        checkpoint.restart()
        left = [name for name in checkpoint.files() if STATE in name]
        assert left == [f"spark/{STATE}/{version}.changelog" for version in range(1, 5)]

    def test_of_the_first_batch_begins_anew(self, tmp_path: Path) -> None:
        checkpoint = Checkpoint(tmp_path)
        for batch in range(1, 5):
            checkpoint.damage(f"spark/commits/{batch}")
        checkpoint.damage("spark/offsets/0")
        point = checkpoint.restart()
        assert point.committed == -1 and numbers(point) == list(range(12))
        assert checkpoint.batches("commits") == checkpoint.batches("offsets") == []


class TestStateThatCannotBeLoaded:
    def test_takes_back_batch_after_batch(self, checkpoint: Checkpoint) -> None:
        checkpoint.unreadable = {2, 3, 4}
        assert checkpoint.rollback.roll_back_unreadable_state()
        assert "batches 2 to 4 are rolled back" in checkpoint.notes[0] and "no such file" in checkpoint.notes[0]
        point = checkpoint.restart()
        assert (point.committed, numbers(point)) == (1, list(range(2, 12)))

    def test_has_the_batches_made_of_the_same_again(self, checkpoint: Checkpoint) -> None:
        checkpoint.unreadable = {2, 3, 4}
        checkpoint.rollback.roll_back_unreadable_state()
        assert list(checkpoint.restart().replays) == ENDS[2:]
        checkpoint.write("spark/commits/2", 'v1\n{"nextBatchWatermarkMs":0}')
        assert list(checkpoint.restart().replays) == ENDS[3:], "also after another restart"

    def test_is_found_to_be_fine_when_something_else_was_wrong(self, checkpoint: Checkpoint) -> None:
        before = checkpoint.files()
        assert not checkpoint.rollback.roll_back_unreadable_state()
        assert checkpoint.files() == before

    def test_is_not_gone_past_what_is_kept(self, tmp_path: Path) -> None:
        checkpoint = Checkpoint(tmp_path, first=2)
        before = checkpoint.files()
        checkpoint.unreadable = {2, 3, 4}
        with pytest.raises(CheckpointCorruptedError, match=r"after batch 4 cannot be loaded \(no such file\)"):
            checkpoint.rollback.roll_back_unreadable_state()
        assert checkpoint.files() == before, "nothing is deleted for nothing"


def test_what_cannot_be_gone_on_from_is_named(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path, first=4)
    checkpoint.damage("spark/commits/4")
    with pytest.raises(CheckpointCorruptedError, match="spark/commits/4 is damaged"):
        checkpoint.restart()


def test_logs_that_have_vanished_are_not_mistaken_for_a_beginning(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path, first=4)
    shutil.rmtree(tmp_path / "spark")
    with pytest.raises(CheckpointCorruptedError, match="assignments/000000000008"):
        checkpoint.restart()


def test_the_end_of_a_batch_in_the_midst_whose_record_is_lost_keeps_the_ids_of_later_ones(
    checkpoint: Checkpoint,
) -> None:
    checkpoint.damage("spark/offsets/2")
    checkpoint.unreadable = {2, 3, 4}
    checkpoint.rollback.roll_back_unreadable_state()
    assert list(checkpoint.restart().replays) == [4, 6, 9, 11]


def test_a_batch_that_sinks_may_have_is_computed_again_as_it_was_though_its_offsets_are_damaged(
    checkpoint: Checkpoint,
) -> None:
    """Also if they are those of the last batches, after which nothing says what they had."""
    preparing = Preparing(checkpoint.own)
    for batch in (3, 4, 5):
        preparing.note(batch, {"sink": []})
    checkpoint.damage("spark/offsets/4")
    checkpoint.damage("spark/offsets/5")
    point = checkpoint.restart()
    assert (point.committed, list(point.replays)) == (3, ENDS[4:])
    assert checkpoint.restart() == point, "also after another restart"


def test_the_ends_of_batches_are_noted_over_starts_up_to_a_limit(tmp_path: Path) -> None:
    own = LocalStorage(str(tmp_path))
    for batch in range(130):
        own.write(f"spark/offsets/{batch}", f"v1\n{{}}\n{batch * 2}".encode())
        if batch % 50 == 0:
            preparing = Preparing(own)
        preparing.note(batch, {})
    assert noted_ends(own) == {batch: batch * 2 for batch in range(30, 130)}
    preparing.note(100, {})  # the rest was rolled back
    assert max(noted_ends(own)) == 100


class TestWhatSinksMayKnow:
    """Another program must not go on before it is computed again, nor use its ids."""

    def test_is_no_batch_that_was_only_planned(self, checkpoint: Checkpoint) -> None:
        """The driver was killed while it logged assignments behind the planned batch."""
        checkpoint.write(entry(12), "torn")
        point = checkpoint.restart()
        assert (point.committed, list(point.replays)) == (4, [11])
        assert len(checkpoint.notes) == 1 and "what follows batch 5 is assigned again" in checkpoint.notes[0]
        assert not_computed_again(checkpoint.own, point.committed) is None

    def test_is_what_was_committed_and_the_batch_in_doubt_after_it(self, checkpoint: Checkpoint) -> None:
        checkpoint.damage("spark/commits/4")
        point = checkpoint.restart()
        assert point.committed == 3
        assert not_computed_again(checkpoint.own, 3) == not_computed_again(checkpoint.own, 4) == 5
        assert not_computed_again(checkpoint.own, 5) is None
        assert not_computed_again(checkpoint.own, None) == 5

    def test_is_known_though_its_input_is_lost_with_it(self, checkpoint: Checkpoint) -> None:
        """Its end cannot be remembered."""
        checkpoint.damage("spark/commits/4")
        checkpoint.damage(entry(10))
        assert list(checkpoint.restart().replays) == [9]
        assert not_computed_again(checkpoint.own, 4) == known_to_sinks(checkpoint.own) == 5

    @pytest.mark.parametrize("content", ["", "?"])
    def test_is_what_is_replayed_if_the_note_is_damaged_as_well(self, checkpoint: Checkpoint, content: str) -> None:
        checkpoint.damage("spark/commits/4")
        checkpoint.restart()
        checkpoint.write("assignments/rolled-back", content)
        assert not_computed_again(checkpoint.own, 4) == known_to_sinks(checkpoint.own) == 5

    def test_may_be_any_batch_if_nothing_is_legible(self, checkpoint: Checkpoint) -> None:
        checkpoint.damage("spark/commits/4")
        checkpoint.restart()
        for name in ("rolled-back", "replays"):
            checkpoint.damage(f"assignments/{name}")
        assert not_computed_again(checkpoint.own, 1000) is not None
        assert known_to_sinks(checkpoint.own) == -1

    @pytest.mark.parametrize("lost", [10, 12], ids=["its own", "one behind it"])
    def test_is_a_batch_in_doubt_whose_state_is_deleted_as_an_entry_is_lost(
        self, checkpoint: Checkpoint, lost: int
    ) -> None:
        """Another program must not commit it by its note: nothing else of it is left."""
        Preparing(checkpoint.own).note(5, {"sink": []})
        checkpoint.write(entry(lost), "torn")
        assert checkpoint.restart().committed == 4
        assert prepared_batch(checkpoint.own, 4) is None
        assert not_computed_again(checkpoint.own, 4) == 5
        assert not_computed_again(checkpoint.own, 5) is None

    def test_is_a_first_batch_whose_state_is_deleted_before_its_commit(self, tmp_path: Path) -> None:
        """It was killed between the commits of sinks and Spark, and again while it was repeated."""
        own = LocalStorage(str(tmp_path))
        own.write("spark/offsets/0", b"v1\n{}\n3")
        Preparing(own).note(0, {"sink": []})
        delete_state(own)
        assert prepared_batch(own, None) is None, "its state is gone: it must not count as whole"
        assert not_computed_again(own, None) == 0
        assert not_computed_again(own, 0) is None

    def test_is_nothing_where_nothing_was_damaged(self, checkpoint: Checkpoint) -> None:
        assert not_computed_again(checkpoint.own, None) is None
        assert known_to_sinks(checkpoint.own) == -1


_DAMAGES = st.lists(
    st.tuples(
        st.sampled_from(
            [f"spark/{log}/{batch}" for log in ("offsets", "commits") for batch in range(len(ENDS))]
            + [entry(number) for number in range(0, ENDS[-1] + 1, 2)]
        ),
        st.sampled_from(["damage", "delete"]),
    ),
    max_size=5,
    unique_by=lambda damage: damage[0],
)


@given(damages=_DAMAGES, unreadable=st.sets(st.integers(0, 4)), first=st.sampled_from([0, 2]))
def test_any_damage_ends_in_a_whole_checkpoint_or_in_an_error(
    tmp_path_factory: pytest.TempPathFactory,
    damages: Sequence[tuple[str, str]],
    unreadable: set[int],
    first: int,
) -> None:
    checkpoint = Checkpoint(tmp_path_factory.mktemp("checkpoint"), first)
    checkpoint.unreadable = unreadable
    for name, how in damages:
        if (checkpoint.root / name).exists():
            getattr(checkpoint, how)(name)
    try:
        checkpoint.rollback.roll_back_unreadable_state()
        point = checkpoint.restart()
    except CheckpointCorruptedError:
        assert damages or unreadable
        return
    assert point.committed not in unreadable
    assert max(_batches(checkpoint, "commits"), default=-1) == point.committed
    assert all(batch <= point.committed + 1 for batch in _batches(checkpoint, "offsets"))
    fed = numbers(point)
    assert fed == list(range(fed[0], fed[-1] + 1)) if fed else True
    begins = ENDS[point.committed] + 1 if point.committed >= 0 else 0
    assert not fed or fed[0] <= begins
    assert list(point.replays) == sorted(point.replays)
    assert all(begins <= end < (fed[-1] + 1 if fed else 0) for end in point.replays)


def _batches(checkpoint: Checkpoint, log: str) -> Iterator[int]:
    directory = checkpoint.root / "spark" / log
    return (int(path.name) for path in directory.iterdir())
