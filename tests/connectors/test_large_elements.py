"""Collections of large elements: dealt in parts of limited size, and an element that is too large is refused."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from scurry.common import Configuration, Types
from scurry.connectors import collection
from scurry.connectors.collection import CollectionSource
from scurry.connectors.source import BatchLimits, ChunkSizer
from scurry.datastream import StreamExecutionEnvironment
from scurry.errors import ArgumentError, JobError

KB = 1024


def dealt(values: list[Any], limits: BatchLimits = BatchLimits(), declared: Any = None) -> list[list[Any]]:  # noqa: B008 - frozen
    """The parts that a collection is dealt in."""
    enumerator = CollectionSource(values, declared).create_enumerator(1, limits)
    parts: list[list[Any]] = []
    while assignments := enumerator.next_batch():
        works = [each.work for each in assignments if each.work is not None]
        parts += [pickle.loads(each) if isinstance(each, bytes) else each for each in works]
    return parts


@pytest.fixture(autouse=True)
def small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection, "SLICE_BYTES", 100 * KB)


def test_elements_are_dealt_in_parts_of_limited_size() -> None:
    values = [bytes(20 * KB) for _ in range(50)]
    parts = dealt(values)
    assert [each for part in parts for each in part] == values
    assert len(parts) < 20 and all(len(pickle.dumps(part)) <= 100 * KB for part in parts)


def test_a_large_element_among_small_ones_is_dealt_alone_or_with_few() -> None:
    values = [*range(1000), bytes(300 * KB), *range(1000)]
    parts = dealt(values)
    assert [each for part in parts for each in part] == values
    assert all(len(pickle.dumps(part)) <= 300 * KB + 100 for part in parts)


def test_an_element_beyond_the_limit_is_refused_with_its_place_and_the_limits_name() -> None:
    with pytest.raises(
        ArgumentError, match=r"element 2 .* takes up 307,2.. bytes.*scurry.record.max-bytes \(now 204,800"
    ):
        dealt([1, 2, bytes(300 * KB), 3], BatchLimits(max_record_bytes=200 * KB))


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
def test_a_job_with_such_an_element_fails_before_anything_is_shipped(mode: str) -> None:
    settings = {"scurry.runner": "local", "execution.runtime-mode": mode, "scurry.record.max-bytes": "200 kb"}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
    env.from_collection([bytes(300 * KB)]).map(len).print()
    with pytest.raises(JobError, match=r"(?s)element 0 of the collection.*scurry.record.max-bytes"):
        env.execute()


@pytest.mark.parametrize("text", ["x" * 900, "\u00e9" * 450, "\U0001f600" * 225])
def test_texts_that_are_not_pickled_here_are_dealt_in_parts_of_limited_size_too(text: str) -> None:
    values = [(number, text) for number in range(1_000)]
    parts = dealt(values, declared=Types.TUPLE([Types.LONG(), Types.STRING()]))
    assert [each for part in parts for each in part] == values
    assert len(parts) > 8 and all(len(pickle.dumps(list(part), 5)) <= 100 * KB for part in parts)


def test_elements_that_cannot_change_are_pickled_only_where_they_leave_the_process() -> None:
    source = CollectionSource([(1, "a"), (2, "b")], Types.TUPLE([Types.LONG(), Types.STRING()]))
    (assignment,) = source.create_enumerator(1, BatchLimits()).next_batch()
    assert assignment.work[0] is source._values[0]
    sent = pickle.loads(pickle.dumps(assignment.work))
    assert [chunk for chunk in source.read(sent, ChunkSizer(10))] == [([(1, "a"), (2, "b")], None)]


def test_a_declared_text_beyond_the_limit_is_refused_with_its_bytes() -> None:
    with pytest.raises(ArgumentError, match=r"element 0 .* takes up 307,2.. bytes"):
        dealt(["x" * 300 * KB], BatchLimits(max_record_bytes=200 * KB), Types.STRING())
