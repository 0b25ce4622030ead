"""Exactly once, whatever order of crashes: every script of tries at a batch leaves each record once.

An engine repeats a batch under its number, with the same records dealt to other tasks, from wherever it died: after
some tasks, before the commit, in the middle of the commit's transaction, after it. SQLite stands for the database here;
`test_postgres_sink.py` and the fault tests do it to a real server.
"""

from __future__ import annotations

import os
import random
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scurry.common import Row, Types
from scurry.connectors.jdbc import exactly_once
from scurry.connectors.sink import Committer, WriterContext
from scurry.datastream.connectors.jdbc import JdbcConnectionOptions, JdbcExecutionOptions, JdbcSink
from support.connectors.jdbc_tables import connection_options

ROW = Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])
EXECUTION = JdbcExecutionOptions.builder().with_batch_size(3).with_max_retries(0).build()


class Death(Enum):
    """How far a try at a batch gets."""

    AFTER_SOME_TASKS = 0
    BEFORE_THE_COMMIT = 1
    WITHIN_THE_COMMIT = 2
    AFTER_THE_COMMIT = 3


tries = st.lists(st.sampled_from(Death), max_size=3)
batches = st.lists(st.tuples(st.integers(0, 25), tries), max_size=5)


class Engine:
    """Runs batches of a sink; every death loses writers and committer alike."""

    def __init__(self, options: JdbcConnectionOptions, seed: int) -> None:
        self._sink = JdbcSink.exactly_once_sink("INSERT INTO target VALUES (?, ?)", ROW, options, EXECUTION)
        self._chance = random.Random(seed)
        self._committer = self._restart()

    def _restart(self) -> Committer:
        return self._sink.create_committer("sink")

    def _tasks(self, records: list[Row]) -> list[list[Row]]:
        dealt: list[list[Row]] = [[] for _ in range(self._chance.randint(1, 4))]
        for record in records:
            self._chance.choice(dealt).append(record)
        return dealt

    def batch(self, batch_id: int, records: list[Row], deaths: list[Death]) -> None:
        for death in deaths:
            self._try(batch_id, records, death)
            self._committer = self._restart()
        self._try(batch_id, records, None)

    def _try(self, batch_id: int, records: list[Row], death: Death | None) -> None:
        tasks = self._tasks(records)
        committables: list[Any] = []
        for subtask, task in enumerate(tasks):
            if death is Death.AFTER_SOME_TASKS and subtask == len(tasks) - 1:
                return
            writer = self._sink.create_writer(WriterContext(subtask, len(tasks), batch_id, "sink"))
            writer.write(task)
            committables += writer.prepare_commit()
        if death is Death.BEFORE_THE_COMMIT:
            return
        if death is Death.WITHIN_THE_COMMIT:
            with dying_connection():
                self._committer.commit(batch_id, committables)
            return
        self._committer.commit(batch_id, committables)


@contextmanager
def dying_connection() -> Iterator[None]:
    """The process dies when the transaction has done all but its last statement."""

    class Died(BaseException):
        pass

    def die(*_: Any) -> None:
        raise Died

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exactly_once._Staging, "clear", die)
        try:
            yield
        except Died:
            pass


@pytest.mark.parametrize("carried", [0, 60, 10**6], ids=["staged", "some staged", "carried"])
@settings(max_examples=int(os.environ.get("SCURRY_CASES", "20")))
@given(script=batches, seed=st.integers(0, 10**6))
def test_every_record_is_written_once(carried: int, script: list[tuple[int, list[Death]]], seed: int) -> None:
    with tempfile.TemporaryDirectory() as directory, pytest.MonkeyPatch.context() as patch:
        patch.setattr(exactly_once, "CARRIED_CHARACTERS", carried)
        path = Path(directory, "test.db")
        database = sqlite3.connect(path, isolation_level=None)
        database.execute("CREATE TABLE target (id integer, name text)")
        engine = Engine(connection_options(f"jdbc:sqlite:{path}"), seed)
        expected = []
        for batch_id, (count, deaths) in enumerate(script):
            ids = [batch_id * 100 + number for number in range(count)]
            engine.batch(batch_id, [Row(number, f"name {number}") for number in ids], deaths)
            expected += ids
            assert [row[0] for row in database.execute("SELECT id FROM target ORDER BY id")] == expected
        if expected and script[-1][0]:
            assert database.execute("SELECT count(*) FROM scurry_staging").fetchone() == (0,)
        database.close()
