"""Metrics of captures, and how much they read at once: it does not grow with the tables and the log."""

from __future__ import annotations

from typing import Any

import pytest

from scurry.connectors.cdc import enumerator
from support.cdc.reader import Reader

DATABASES = [
    pytest.param("postgres", marks=pytest.mark.postgres),
    pytest.param("mariadb", marks=pytest.mark.servers),
]


@pytest.fixture(params=DATABASES)
def shop(request: pytest.FixtureRequest) -> Any:
    """An empty database."""
    return request.getfixturevalue(request.param)


def fill(shop: Any, count: int, first: int = 0) -> None:
    shop.run("INSERT INTO items VALUES " + ", ".join(f"({id}, 'item', {id})" for id in range(first, first + count)))


def test_metrics_say_how_far_the_snapshot_is(shop: Any) -> None:
    shop.create()
    fill(shop, 50)
    reader = Reader(shop.capture(), channels=1)
    metrics = reader.metrics()
    assert (metrics["isSnapshotting"], metrics["isStreamReading"], metrics["numTablesRemaining"]) == (0, 0, 0)
    reader.step()
    metrics = reader.metrics()
    assert (metrics["isSnapshotting"], metrics["isStreamReading"]) == (1, 0)
    assert (metrics["numTablesRemaining"], metrics["numTablesSnapshotted"]) == (1, 0)
    reader.drain()
    metrics = reader.metrics()
    assert (metrics["isSnapshotting"], metrics["isStreamReading"]) == (0, 1)
    assert (metrics["numTablesRemaining"], metrics["numTablesSnapshotted"]) == (0, 1)
    assert metrics["numSnapshotSplitsProcessed"] == metrics["numSnapshotSplitsFinished"] > 1


def test_a_backlog_is_read_in_parts_of_the_same_size(shop: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enumerator, "LOG_BYTES", 8_000)
    shop.create()
    fill(shop, 40)
    reader = Reader(shop.capture(), channels=1)
    reader.drain()
    most = []
    for count in (100, 1000):  # ten times the changes while the sink was slow
        for at in range(count // 10):
            fill(shop, 10, 10_000 * (count // 100) + 10 * at)
        sizes = []
        while works := reader.next_works():
            blocks = reader.read(works)
            sizes.append(sum(block.count for block in blocks))
            reader.commit(blocks)
        assert sum(sizes) == count
        most.append(max(sizes))
    assert most[1] <= most[0] * 2 < 1000


def test_a_part_of_the_log_has_about_as_many_changes_as_a_batch_may_have(
    shop: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(enumerator, "LEAST_LOG_BYTES", 1_000)
    shop.create()
    reader = Reader(shop.capture(), channels=1)
    reader.drain()
    for at in range(300):
        fill(shop, 1, at)
    sizes, more = [], []
    while works := reader.next_works():
        more.append(reader.has_more)
        blocks = reader.read(works)
        sizes.append(sum(block.count for block in blocks))
        reader.commit(blocks)
    assert sum(sizes) == 300
    assert max(sizes) <= 40  # twice the limit of the reader's batches: a change is smaller than is assumed
    assert more == [True] * (len(more) - 1) + [False], "the sizes of batches follow their time while there is more"


def test_a_large_table_is_read_in_parts_of_the_same_size(shop: Any) -> None:
    shop.create()
    fill(shop, 2000)
    reader = Reader(shop.capture(), channels=1)
    sizes = []
    while works := reader.next_works():
        blocks = reader.read(works)
        sizes.append(sum(block.count for block in blocks))
        reader.commit(blocks)
    assert sum(sizes) == 2000
    assert max(sizes) <= 20  # `max_records` of the reader's batches
