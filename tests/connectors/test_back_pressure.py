"""However slow a job is, what its process holds of a queue stays near a limit of bytes, and no message is lost.

A matrix over all queues: the messages that wait in the driver, and the blocks that tasks read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from scurry.connectors.messages import MessageScan, MessageSource
from scurry.connectors.queues import positions, receiving
from scurry.connectors.queues.positions import BlockCount
from scurry.connectors.queues.receiving import ReceivingEnumerator
from scurry.connectors.rabbitmq import source as rabbitmq
from scurry.connectors.source import BatchLimits
from support.queues import SYSTEMS, running_servers

MESSAGES, BYTES = 60, 50_000
LIMIT = 400_000
#: Messages of the first window.
FIRST = 16
QUEUES = [
    pytest.param(name, marks=[pytest.mark.nightly] * each.nightly)
    for name, each in SYSTEMS.items()
    if each.source is not None and name not in ("s3", "azure", "rabbitmq")  # files, and the same without ids
]


@pytest.fixture(scope="module")
def servers() -> Iterator[Callable[[str], Any]]:
    with running_servers() as server_of:
        yield server_of


@pytest.fixture(autouse=True)
def limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiving, "MOST_WAITING_BYTES", LIMIT)
    monkeypatch.setattr(positions, "BLOCK_BYTES", LIMIT)
    monkeypatch.setattr(positions, "FIRST_MESSAGES", 4)
    monkeypatch.setattr(rabbitmq, "FIRST_PREFETCH", FIRST)


@pytest.mark.servers
@pytest.mark.in_turn
@pytest.mark.parametrize("name", QUEUES)
def test_a_slow_reader_holds_few_bytes_and_gets_all(name: str, servers: Callable[[str], Any]) -> None:
    system = SYSTEMS[name]
    port = servers(system.server).port
    system.clear(port)
    assert system.source is not None
    source: Any = system.source(port)
    assert isinstance(source, MessageSource)
    enumerator = source.create_enumerator(1, BatchLimits(max_bytes=BYTES * 2, max_records=MESSAGES))
    if name == "mqtt":
        enumerator.next_batch()  # the broker keeps messages of a session that is there
        time.sleep(0.5)
    system.put(port, [f"{number:04}".ljust(BYTES, ".") for number in range(MESSAGES)])
    found, held, give_up = set[str](), list[int](), time.monotonic() + 60
    while len(found) < MESSAGES:
        assert time.monotonic() < give_up, sorted(found)
        parts = [part for each in enumerator.next_batch() for part in each.work or []]
        for block in (block for part in parts for block in source.scan.messages(part)):
            values = [(source.scan.system.value(message) or b"").decode() for message in block]
            held.append(sum(map(len, values)) if not isinstance(enumerator, ReceivingEnumerator) else 0)
            found |= {each[:4] for each in values}
        if parts:
            time.sleep(0.1)  # the job is slow: what can come meanwhile has come
            if isinstance(enumerator, ReceivingEnumerator):
                held.append(enumerator._receiver._bytes)
            enumerator.committed()
        else:
            time.sleep(0.02)
    enumerator.close()
    assert found == {f"{number:04}" for number in range(MESSAGES)}
    assert 0 < max(held) <= 2 * LIMIT, held  # what is asked for below the limit is on its way


def test_every_queue_is_in_the_matrix() -> None:
    def leaves(kind: type[Any]) -> Iterator[type[Any]]:
        for each in kind.__subclasses__():
            yield each
            yield from leaves(each)

    modules = {each.__module__.split(".")[2] for each in leaves(MessageScan) if each.__module__.startswith("scurry.")}
    tested = {name.partition("-")[0] for name, each in SYSTEMS.items() if each.source is not None}
    # Kafka's client holds 16 MiB of each partition, and a log is read from files
    assert modules - tested <= {"kafka", "log", "queues"}


def test_a_window_is_as_wide_as_the_size_of_messages_allows() -> None:
    window = rabbitmq.Window()
    assert not window.changes(0, 0)
    assert not window.changes(FIRST // 2, FIRST * 10), "the broker has no more"
    assert window.changes(FIRST, FIRST * 10)
    assert window.messages == min(receiving.MOST_WAITING, LIMIT // 10)
    assert not window.changes(window.messages // 2, LIMIT // 2)
    assert window.changes(40, 40 * 50_000), "they have become larger"
    assert window.messages == 8
    assert not window.changes(8, 8 * 60_000)
    assert window.changes(1, 10 * LIMIT)
    assert window.messages == 1, "one message is always let through"


def test_blocks_have_as_many_messages_as_their_size_allows() -> None:
    at_once = BlockCount(1000)
    assert at_once.messages == 4
    at_once.came(4, 4 * 100)
    assert at_once.messages == 1000
    at_once.came(1000, 1000 * 100_000)
    assert at_once.messages == 4
    at_once.came(0, 0)
    assert at_once.messages == 4
    at_once.came(4, 100 * LIMIT)
    assert at_once.messages == 1
