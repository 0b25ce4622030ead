"""Jobs where no thread can be started, as in a browser: who waits for a job takes its steps."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Configuration, Types
from scurry.common._process import file_locks, threads
from scurry.common.job_status import JobStatus
from scurry.common.time import Time
from scurry.datastream import AsyncDataStream, AsyncFunction, StreamExecutionEnvironment
from scurry.datastream.connectors.number_seq import NumberSequenceSource
from scurry.errors import JobError
from scurry.table import StreamTableEnvironment


@pytest.fixture(autouse=True)
def no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process be as one of WebAssembly."""

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threads, "THREADS", False)
    monkeypatch.setattr(threads, "_jobs", [])
    monkeypatch.setattr(threading.Thread, "start", refuse)


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    configuration = Configuration()
    configuration.set_string("scurry.runner", "local")
    configuration.set_string("parallelism.default", "2")
    return StreamExecutionEnvironment.get_execution_environment(configuration)


def endless(env: StreamExecutionEnvironment) -> Any:
    return env.from_source(NumberSequenceSource(0, 1 << 60), None, "numbers")


def test_a_program_runs_its_job(env: StreamExecutionEnvironment, capsys: pytest.CaptureFixture[str]) -> None:
    env.from_collection([1, 2, 3]).map(lambda x: x + 1).print()
    env.execute()
    assert sorted(line[-1] for line in capsys.readouterr().out.splitlines()) == ["2", "3", "4"]


def test_a_failure_is_raised_where_the_program_waits(env: StreamExecutionEnvironment) -> None:
    env.from_collection([0]).map(lambda x: 1 // x).print()
    client = env.execute_async()
    with pytest.raises(JobError, match="ZeroDivisionError"):
        client.get_job_execution_result().result()


def test_records_are_collected_while_an_endless_job_runs(env: StreamExecutionEnvironment) -> None:
    with endless(env).execute_and_collect() as records:
        assert len({next(records) for _ in range(1000)}) == 1000
    assert not threads._jobs


def test_an_endless_job_ends_with_a_savepoint(env: StreamExecutionEnvironment, tmp_path: Path) -> None:
    endless(env).map(lambda x: x).print()
    client = env.execute_async()
    path = client.stop_with_savepoint(False, str(tmp_path)).result()
    assert Path(path.removeprefix("file://")).is_dir()
    assert client.get_job_status().result() == JobStatus.FINISHED


def test_a_program_may_ask_for_the_status_until_the_job_is_over(env: StreamExecutionEnvironment) -> None:
    env.from_collection([1]).print()
    client = env.execute_async()
    asked = 0
    while client.get_job_status().result() != JobStatus.FINISHED:
        asked += 1
        assert asked < 1000


def test_jobs_run_side_by_side(env: StreamExecutionEnvironment) -> None:
    slow = endless(env)
    slow.map(lambda x: x).print()
    first = env.execute_async("first")
    env.from_collection([1]).print()
    env.execute("second")
    assert first.get_job_status().result() == JobStatus.RUNNING
    first.cancel().result()
    assert first.get_job_status().result() == JobStatus.CANCELED


class Twice(AsyncFunction):
    async def async_invoke(self, value: int) -> list[int]:
        await asyncio.sleep(0.001)
        return [2 * value]

    def timeout(self, value: int) -> list[int]:
        return [-value]


class Never(Twice):
    async def async_invoke(self, value: int) -> list[int]:
        await asyncio.sleep(60)
        return []


@pytest.mark.parametrize(("function", "expected"), [(Twice(), [2, 4, 6]), (Never(), [-1, -2, -3])])
def test_async_functions_are_awaited(
    env: StreamExecutionEnvironment, function: AsyncFunction, expected: list[int]
) -> None:
    numbers = env.from_collection([1, 2, 3], Types.INT()).set_parallelism(1)
    called = AsyncDataStream.unordered_wait(numbers, function, Time.milliseconds(20), 2, Types.INT())
    assert sorted(called.execute_and_collect()) == sorted(expected)


def test_sql_is_queried_and_inserted(env: StreamExecutionEnvironment, capsys: pytest.CaptureFixture[str]) -> None:
    tables = StreamTableEnvironment.create(env)
    with tables.execute_sql("SELECT a + 1 FROM (VALUES (1), (2)) AS T (a)").collect() as rows:
        assert sorted(row[0] for row in rows) == [2, 3]
    tables.execute_sql("CREATE TABLE printed (a INT) WITH ('connector' = 'print')")
    tables.execute_sql("INSERT INTO printed SELECT a FROM (VALUES (7)) AS T (a)").wait()
    assert "+I[7]" in capsys.readouterr().out


def test_rows_of_an_endless_query_come_while_it_runs(env: StreamExecutionEnvironment) -> None:
    tables = StreamTableEnvironment.create(env)
    tables.execute_sql("CREATE TABLE endless (a BIGINT) WITH ('connector' = 'datagen')")
    with tables.execute_sql("SELECT a FROM endless").collect() as rows:
        assert len([next(rows) for _ in range(3)]) == 3


def test_a_wait_for_an_endless_job_ends_in_time(env: StreamExecutionEnvironment) -> None:
    tables = StreamTableEnvironment.create(env)
    tables.execute_sql("CREATE TABLE endless (a BIGINT) WITH ('connector' = 'datagen')")
    tables.execute_sql("CREATE TABLE nowhere (a BIGINT) WITH ('connector' = 'blackhole')")
    result = tables.execute_sql("INSERT INTO nowhere SELECT a FROM endless")
    with pytest.raises(Exception, match="has not ended after 50 ms"):
        result.wait(50)


def test_a_pool_calls_at_once() -> None:
    with threads.pool(4, "none") as pool:
        assert list(pool.map(lambda x: threading.current_thread().name, range(2))) == ["MainThread"] * 2


def test_the_lock_of_a_file_is_kept_until_it_is_closed(tmp_path: Path) -> None:
    with open(tmp_path / "lock", "w") as first, open(tmp_path / "lock", "a") as second:
        file_locks.lock(first, wait=False)
        with pytest.raises(BlockingIOError):
            file_locks.lock(second, wait=False)
        first.close()
        file_locks.lock(second, wait=False)
