"""Results that nobody takes hold their job back: they never fill the memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from scurry.common import Configuration, Types
from scurry.connectors import collect_sink
from scurry.connectors.collect_sink import MOST_WAITING_BYTES, CollectedRecords
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors.number_seq import NumberSequenceSource
from scurry.sql.gateway.operations import PAGE_ROWS, Operation
from scurry.sql.gateway.sessions import Sessions
from support.statements.tables import environment

SETTINGS = {"scurry.batch.max-records": "100", "parallelism.default": "1", "scurry.runner": "local"}
RECORD_BYTES = 10_000


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> list[CollectedRecords[Any]]:
    """The records that wait, of each job of the test; `most` is the most bytes there were."""
    found: list[CollectedRecords[Any]] = []

    class Watched(CollectedRecords[Any]):
        most = 0

        def __init__(self) -> None:
            super().__init__()
            found.append(self)

        def put(self, block: list[Any], size: int) -> None:
            super().put(block, size)
            self.most = max(self.most, self.waiting)

    monkeypatch.setattr(collect_sink, "CollectedRecords", Watched)
    monkeypatch.setattr("scurry.sql.statements.jobs.CollectedRecords", Watched)
    return found


def wait_until(condition: Callable[[], Any]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_stream_whose_records_are_taken_late_waits_for_them(kept: list[Any]) -> None:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(SETTINGS))
    numbers = env.from_source(NumberSequenceSource(1, 3000), None, "numbers")
    texts = numbers.map(lambda n: str(n).rjust(RECORD_BYTES), Types.STRING())
    with texts.execute_and_collect() as results:
        wait_until(lambda: kept[0].is_full)
        assert [int(text) for text in results] == list(range(1, 3001))
    assert MOST_WAITING_BYTES <= kept[0].most < MOST_WAITING_BYTES + 200 * RECORD_BYTES


def test_a_job_whose_records_nobody_takes_can_be_cancelled_and_forgets_them(kept: list[Any]) -> None:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(SETTINGS))
    numbers = env.from_source(NumberSequenceSource(1, 10**9), None, "numbers")
    results = numbers.map(lambda n: str(n).rjust(RECORD_BYTES), Types.STRING()).execute_and_collect()
    wait_until(lambda: kept[0].is_full)
    results.close()
    assert kept[0].waiting == 0


GENERATED = f"""CREATE TABLE un (n BIGINT, t STRING) WITH ('connector' = 'datagen', 'fields.n.kind' = 'sequence',
    'fields.n.start' = '1', 'fields.n.end' = '1000000000', 'fields.t.length' = '{RECORD_BYTES}')"""


def test_a_query_whose_rows_are_taken_slowly_waits_for_them(kept: list[Any]) -> None:
    env = environment(**SETTINGS)
    env.execute_sql(GENERATED)
    with env.execute_sql("SELECT * FROM un").collect() as rows:
        assert next(rows)[0] == 1
        wait_until(lambda: kept[0].is_full)
        assert [next(rows)[0] for _ in range(2000)] == list(range(2, 2002))
    assert kept[0].most < MOST_WAITING_BYTES + 200 * RECORD_BYTES
    wait_until(lambda: kept[0].waiting == 0)


def test_the_gateway_keeps_a_page_of_a_result_that_no_client_fetches(kept: list[Any]) -> None:
    sessions = Sessions(SETTINGS)
    session = sessions.open({"execution.runtime-mode": "streaming"})
    for statement in (GENERATED, "SELECT * FROM un"):
        operation: Operation = session.submit(statement)
        operation.wait()
    wait_until(lambda: kept[0].is_full)
    assert len(operation._rows) <= PAGE_ROWS
    assert kept[0].most < MOST_WAITING_BYTES + 200 * RECORD_BYTES
    sessions.close(session.id)
    wait_until(lambda: kept[0].waiting == 0 and not operation._rows)
