"""A log keeps what was appended, in order, through crashes at any moment, and shows batches as a whole and once."""

from __future__ import annotations

import multiprocessing
import os
import random
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from scurry.connectors.kafka.partitions import KafkaOffsetsInitializer, KafkaTopicPartition, Subscription
from scurry.connectors.log import catalog
from scurry.connectors.log.blocks import encoded
from scurry.connectors.log.catalog import TopicSettings
from scurry.connectors.log.directory import LogDirectory
from scurry.connectors.log.topics import LogCluster, LogTopics
from scurry.errors import ArgumentError, SourceNotFoundError, StorageError
from support.cases import cases

T0 = KafkaTopicPartition("t", 0)


def block(*values: str, time: int = 5) -> bytes:
    (made,) = encoded([(None, value.encode(), time, None) for value in values])
    return made


def values(path: Path, partition: int = 0, start: int = 0, end: int | None = None, reset: str = "none") -> list[str]:
    scan = LogTopics(str(path), Subscription(("t",)), KafkaOffsetsInitializer.earliest(), reset=reset)
    if end is None:
        found = LogDirectory(str(path)).partition(KafkaTopicPartition("t", partition))
        end = found.end if found is not None else 0
    return [
        str(m[5], "utf-8") for some in scan.messages(("t", partition, start, end)) for m in some if m[5] is not None
    ]


def test_a_range_of_offsets_has_its_records(tmp_path: Path) -> None:
    log = LogDirectory(str(tmp_path))
    log.append([("t", 0, [block("a", "b", "c"), block("d")]), ("t", 1, [block("x")])])
    log.append([("t", 0, [block("e")])])
    assert values(tmp_path) == ["a", "b", "c", "d", "e"]
    assert values(tmp_path, 0, 1, 4) == ["b", "c", "d"]
    assert values(tmp_path, 1) == ["x"]
    assert log.topics() == {"t": 2}


def test_a_batch_is_appended_once(tmp_path: Path) -> None:
    log = LogDirectory(str(tmp_path))
    assert log.append([("t", 0, [block("a")])], ("sink", 0))
    assert not log.append([("t", 0, [block("of another attempt")])], ("sink", 0))
    assert log.append([("t", 0, [block("b")])], ("other sink", 0))
    assert log.append([("t", 0, [block("c")])], ("sink", 3))
    assert values(tmp_path) == ["a", "b", "c"]


def test_a_batch_that_a_killed_process_appended_is_forced_to_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    LogDirectory(str(tmp_path)).append([("t", 0, [block("a")])], ("sink", 0))
    forced: list[Path] = []
    monkeypatch.setattr(catalog, "force_directory", forced.append)
    assert not LogDirectory(str(tmp_path)).append([("t", 0, [block("a")])], ("sink", 0))
    assert forced == [tmp_path]


class _Crash(BaseException):
    pass


def test_nothing_of_a_batch_is_visible_after_a_crash_before_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = LogDirectory(str(tmp_path))
    log.ensure("t", TopicSettings(2, segment_bytes=200))
    log.append([("t", 0, [block("a")])], ("sink", 0))

    def crash(path: Path, content: bytes, durable: bool = True) -> None:
        raise _Crash

    half = [("t", 0, [block(f"half {number}") for number in range(20)]), ("t", 1, [block("half")])]
    with monkeypatch.context() as patch:
        patch.setattr(catalog, "replace_file", crash)
        with pytest.raises(_Crash):
            log.append(half, ("sink", 1))
    assert (values(tmp_path), values(tmp_path, 1)) == (["a"], [])
    log.append([("t", 0, [block("b", "c")]), ("t", 1, [block("d")])], ("sink", 1))
    assert (values(tmp_path), values(tmp_path, 1)) == (["a", "b", "c"], ["d"])


def leave_torn_bytes(directory: Path, chance: random.Random) -> None:
    """Write what a crashed process could have left behind the ends of segments, and segments that never got visible."""
    for file in directory.rglob("*.log"):
        with open(file, "ab") as torn, open(file.with_suffix(".index"), "ab") as index:
            torn.write(chance.choice([block("torn")[: chance.randrange(40)], block("torn"), bytes(9)]))
            index.write(bytes(chance.randrange(30)))
        if chance.random() < 0.2:
            later = file.with_name(f"{int(file.stem) + chance.randrange(1, 9):020}.log")
            if not later.exists():
                later.write_bytes(block("torn"))


@pytest.mark.parametrize("seed", range(cases(30)))
def test_random_appends_and_crashes_leave_what_a_list_has(seed: int, tmp_path: Path) -> None:
    chance, expected, batch = random.Random(seed), {0: list[str](), 1: list[str]()}, 0
    LogDirectory(str(tmp_path)).ensure("t", TopicSettings(2, segment_bytes=chance.choice([1, 150, 1 << 20])))
    for number in range(30):
        log = LogDirectory(str(tmp_path))
        added = {
            part: [f"{number}-{n}" for n in range(chance.randrange(1, 4))] for part in (0, 1) if chance.random() < 0.7
        }
        repeated = chance.random() < 0.2
        batch += not repeated
        done = log.append([("t", part, [block(*some)]) for part, some in added.items()], ("s", batch))
        assert done != (repeated and number > 0) or number == 0
        for part, some in added.items() if done else ():
            expected[part] += some
        if chance.random() < 0.3:
            leave_torn_bytes(tmp_path, chance)
        if chance.random() < 0.1:
            for index in tmp_path.rglob("*.index"):
                index.unlink()
    for part, every in expected.items():
        assert values(tmp_path, part) == every
        start = chance.randrange(len(every) + 1)
        assert values(tmp_path, part, start) == every[start:]


def append_many(path: str, name: str, count: int) -> None:
    log = LogDirectory(path)
    for number in range(count):
        log.append([("t", 0, [block(f"{name}-{number}")])])


def test_processes_append_side_by_side(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=append_many, args=(str(tmp_path), name, 40)) for name in "ab"]
    for worker in workers:
        worker.start()
    append_many(str(tmp_path), "c", 40)
    for worker in workers:
        worker.join()
    found = values(tmp_path)
    for name in "abc":
        assert [value for value in found if value.startswith(name)] == [f"{name}-{number}" for number in range(40)]
    assert len(found) == 120


def test_a_damaged_record_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    LogDirectory(str(tmp_path)).append([("t", 0, [block("a"), block("b")])])
    (segment,) = tmp_path.rglob("*.log")
    content = bytearray(segment.read_bytes())
    content[-1] ^= 1
    segment.write_bytes(content)
    with pytest.raises(StorageError, match=r"00000.log is damaged at byte \d+, at offset 1: the checksum"):
        values(tmp_path)
    content[-1] ^= 1
    content[len(block("a")) + 8] ^= 1
    segment.write_bytes(content)
    with pytest.raises(StorageError, match="the offset of a block is 0 instead of 1"):
        values(tmp_path)
    segment.write_bytes(content[:-5])
    with pytest.raises(StorageError, match="is damaged: it has .* bytes instead of"):
        LogDirectory(str(tmp_path)).append([("t", 0, [block("c")])])


def test_a_damaged_catalog_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    LogDirectory(str(tmp_path)).append([("t", 0, [block("a")])])
    (tmp_path / "catalog").write_bytes((tmp_path / "catalog").read_bytes()[:-9])
    with pytest.raises(StorageError, match="catalog is damaged"):
        LogDirectory(str(tmp_path)).topics()


def test_a_log_of_a_later_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(catalog, "_VERSION", 99)
        LogDirectory(str(tmp_path)).ensure("t", TopicSettings())
    with pytest.raises(StorageError, match="later version of scurry"):
        LogDirectory(str(tmp_path)).topics()


def test_a_directory_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match=r"the log at .*/file cannot be"):
        LogDirectory(str(tmp_path / "file")).ensure("t", TopicSettings())


@pytest.mark.parametrize("name", ["", "..", "a/b", "a" * 250])
def test_names_of_topics_are_kafkas(name: str, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="cannot be the name of a topic"):
        LogDirectory(str(tmp_path)).ensure(name, TopicSettings())


# ---------------------------------------------------------------- retention


def test_old_segments_are_deleted_by_size(tmp_path: Path) -> None:
    log = LogDirectory(str(tmp_path))
    size = len(block("0"))
    log.ensure("t", TopicSettings(1, retention_bytes=2 * size, segment_bytes=1))
    for number in range(6):
        log.append([("t", 0, [block(str(number))])])
    assert values(tmp_path, 0, 4) == ["4", "5"]
    assert len(list(tmp_path.rglob("*.log"))) == 2
    found = log.partition(T0)
    assert found is not None and (found.start, found.end) == (4, 6)


def test_old_segments_are_deleted_by_time_also_the_one_that_is_written_to(tmp_path: Path) -> None:
    log, now = LogDirectory(str(tmp_path)), int(time.time() * 1000)
    log.ensure("t", TopicSettings(1, retention_ms=60_000, segment_bytes=1))
    log.append([("t", 0, [block("new", time=now), block("of an old time", time=now - 90_000)])])
    log.append([("t", 0, [block("old", time=now - 90_000)])])
    found = log.partition(T0)
    assert found is not None and (found.start, found.end) == (0, 3)  # a segment goes after those before it
    log.ensure("u", TopicSettings(1, retention_ms=60_000))
    log.append([("u", 0, [block("old", time=now - 90_000)])])
    found = log.partition(KafkaTopicPartition("u", 0))
    assert found is not None and (found.start, found.end) == (1, 1)


def test_offsets_that_are_gone_are_an_error_unless_reset_says_where_to_continue(tmp_path: Path) -> None:
    log = LogDirectory(str(tmp_path))
    log.ensure("t", TopicSettings(1, retention_bytes=1, segment_bytes=1))
    for number in range(3):
        log.append([("t", 0, [block(str(number))])])
    with pytest.raises(SourceNotFoundError, match="the record at offset 0 no longer exists.*auto.offset.reset"):
        values(tmp_path)
    assert values(tmp_path, reset="earliest") == ["2"]
    assert values(tmp_path, reset="latest") == []


def test_a_reader_reads_on_in_a_segment_that_is_deleted(tmp_path: Path) -> None:
    log = LogDirectory(str(tmp_path))
    log.ensure("t", TopicSettings(1, retention_bytes=1, segment_bytes=1 << 10))
    log.append([("t", 0, [block("a"), block("b")])])
    found = LogDirectory(str(tmp_path)).blocks(T0, 0)
    assert next(found)[1].values == [b"a"]
    log.append([("t", 0, [block("x" * 2000), block("c")])])
    assert not (tmp_path / "topics/t/0/00000000000000000000.log").exists()
    assert next(found)[1].values == [b"b"]


# ---------------------------------------------------------------- offsets


def test_offsets_of_times(tmp_path: Path) -> None:
    log = LogDirectory(str(tmp_path))
    log.ensure("t", TopicSettings(1, segment_bytes=1))
    log.append([("t", 0, [block("a", time=10), block("b", time=30), block("late", time=20), block("c", "d", time=40)])])
    found = {at: log.offset_at(T0, at) for at in (0, 10, 11, 30, 31, 40, 41)}
    assert found == {0: 0, 10: 0, 11: 1, 30: 1, 31: 3, 40: 3, 41: -1}
    assert log.offset_at(KafkaTopicPartition("none", 0), 0) == -1


def test_offsets_of_times_are_found_without_indexes_and_while_segments_are_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = LogDirectory(str(tmp_path))
    log.ensure("t", TopicSettings(1, segment_bytes=1))
    log.append([("t", 0, [block("a", time=10), block("b", time=20), block("c", time=30)])])
    for index in tmp_path.rglob("*.index"):
        index.unlink()
    assert [log.offset_at(T0, at) for at in (0, 11, 30, 31)] == [0, 1, 2, -1]
    before = log.partition(T0)
    log.trim(T0, 2)
    there = iter([before])
    with monkeypatch.context() as patch:
        patch.setattr(log, "partition", lambda name: next(there, None) or LogDirectory.partition(log, name))
        assert log.offset_at(T0, 0) == 2
    for segment in tmp_path.rglob("*.log"):
        segment.unlink()
    with pytest.raises(StorageError, match=r"the log at .* is damaged: .*0002\.log"):
        log.offset_at(T0, 0)


def test_segments_without_indexes_are_deleted_by_time(tmp_path: Path) -> None:
    log, now = LogDirectory(str(tmp_path)), int(time.time() * 1000)
    log.ensure("t", TopicSettings(1, retention_ms=60_000, segment_bytes=1))
    log.append([("t", 0, [block("new", time=now), block("newer", time=now)])])
    log.append([("t", 0, [block("newest", time=now)])])
    for index in tmp_path.rglob("*.index"):
        index.unlink()
    log.append([("t", 0, [block("last", time=now)])])
    assert values(tmp_path) == ["new", "newer", "newest", "last"]


@pytest.mark.parametrize("group", [".", "..", ".hidden", "a/../b", "%2E", "a b"])
def test_groups_have_any_names(tmp_path: Path, group: str) -> None:
    log = LogDirectory(str(tmp_path))
    log.commit(group, {T0: 3})
    assert (log.committed(group), log.groups()) == ({T0: 3}, [group])
    assert log.staging(group).resolve().parent == tmp_path / "staged"


def test_a_damaged_file_of_a_group_is_named(tmp_path: Path) -> None:
    log = LogDirectory(str(tmp_path))
    log.commit("g", {T0: 3})
    (tmp_path / "groups" / "g").write_bytes(b"")
    with pytest.raises(StorageError, match=r"groups/g, with the offsets of a group, is damaged"):
        log.committed("g")


def test_groups_keep_offsets(tmp_path: Path) -> None:
    log, first = LogDirectory(str(tmp_path)), LogCluster(str(tmp_path), "a/b")
    assert first.committed([T0]) == {}
    first.commit({T0: 3})
    first.commit({KafkaTopicPartition("t", 1): 4})
    assert log.committed("a/b") == {T0: 3, KafkaTopicPartition("t", 1): 4}
    assert LogCluster(str(tmp_path), "other").committed([T0]) == {}
    assert log.groups() == ["a/b"]


def test_a_topic_that_is_deleted_and_made_again_is_empty(tmp_path: Path) -> None:
    log = LogDirectory(str(tmp_path))
    log.append([("t", 0, [block("a")])])
    log.delete("t")
    assert log.topics() == {}
    with pytest.raises(ArgumentError, match="there is no topic 't'"):
        log.delete("t")
    log.append([("t", 0, [block("b")])])
    assert values(tmp_path) == ["b"]


def test_a_topic_whose_deletion_crashed_is_gone_and_can_be_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = LogDirectory(str(tmp_path))
    log.ensure("t", TopicSettings(1, segment_bytes=1))
    log.append([("t", 0, [block("a"), block("b")])])

    def crash(*arguments: Any, **options: Any) -> None:
        raise _Crash

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", crash)
        with pytest.raises(_Crash):
            log.delete("t")
    assert LogDirectory(str(tmp_path)).topics() == {}
    log.append([("t", 0, [block("c")])])
    assert values(tmp_path) == ["c"]


def test_a_range_behind_the_end_is_an_error(tmp_path: Path) -> None:
    LogDirectory(str(tmp_path)).append([("t", 0, [block("a", "b")])])
    for reset in ("none", "earliest"):
        with pytest.raises(StorageError, match=r"partition 0 at .* has no record at offset 2, .* up to offset 3"):
            values(tmp_path, end=3, reset=reset)


def test_a_catalog_that_was_replaced_within_a_tick_of_the_clock_is_read_anew(tmp_path: Path) -> None:
    log, path = LogDirectory(str(tmp_path)), tmp_path / "catalog"
    log.append([("t", 0, [block("a")])])
    before, first = path.stat(), path.read_bytes()
    log.append([("t", 0, [block("b")])])
    second = path.read_bytes()
    path.write_bytes(first)
    os.utime(path, ns=(before.st_mtime_ns, before.st_mtime_ns))
    found = log.partition(T0)
    assert found is not None and found.end == 1
    with open(path, "r+b") as file:  # the same file
        file.write(second)
    os.utime(path, ns=(before.st_mtime_ns, before.st_mtime_ns))
    assert len(first) == len(second)
    found = log.partition(T0)
    assert found is not None and found.end == 2


def test_a_log_that_is_not_there_has_no_topics_and_is_not_created_by_readers(tmp_path: Path) -> None:
    log: Any = LogDirectory(str(tmp_path / "none"))
    assert log.topics() == {} and log.committed("g") == {} and log.groups() == []
    assert os.listdir(tmp_path) == []
