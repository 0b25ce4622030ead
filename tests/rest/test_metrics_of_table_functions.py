"""What functions of tables count is seen from outside, by subtask and with Flink's scopes."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from scurry.common import JobClient
from scurry.rest.client import RemoteProcess
from scurry.rest.registry import registered_jobs, token_of
from scurry.table import AggregateFunction, DataTypes, FunctionContext, ScalarFunction, TableFunction
from scurry.table.udf import udaf, udf, udtf
from support.rest.fake_jobs import raw
from support.statements.tables import environment

PREFIX = "flink_taskmanager_job_task_operator_"


class Parity(ScalarFunction):
    """Counts the odd and the even numbers in groups with a value."""

    def open(self, function_context: FunctionContext) -> None:
        group = function_context.get_metric_group().add_group("numbers")
        self.counters = [group.add_group("parity", name).counter("seen") for name in ("even", "odd")]

    def eval(self, number: int) -> int:
        self.counters[number % 2].inc()
        return number


class Twice(TableFunction):
    """A row for each of two, and a meter of them."""

    def open(self, function_context: FunctionContext) -> None:
        self.made = function_context.get_metric_group().meter("made")

    def eval(self, number: int) -> Iterator[int]:
        self.made.mark_event(2)
        yield number
        yield -number


class Largest(AggregateFunction[int, list[int]]):
    """The largest number, which a gauge has, too."""

    largest = 0

    def open(self, function_context: FunctionContext) -> None:
        function_context.get_metric_group().gauge("largest", lambda: self.largest)

    def create_accumulator(self) -> list[int]:
        return [0]

    def accumulate(self, accumulator: list[int], number: int) -> None:
        accumulator[0] = self.largest = max(accumulator[0], number)

    def get_value(self, accumulator: list[int]) -> int:
        return accumulator[0]


@pytest.fixture
def job() -> Iterator[JobClient]:
    """A job without an end that calls one function of each kind."""
    env = environment(**{"scurry.rest": "on", "parallelism.default": "1"})
    numbers = DataTypes.BIGINT()
    env.create_temporary_function("parity", udf(Parity(), input_types=[numbers], result_type=numbers))
    env.create_temporary_function("twice", udtf(Twice(), input_types=[numbers], result_types=[numbers]))
    env.create_temporary_function("largest", udaf(Largest(), input_types=[numbers], result_type=numbers))
    env.execute_sql("""CREATE TABLE t (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '100',
        'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '1000000')""")
    env.execute_sql("CREATE TABLE o (m BIGINT) WITH ('connector' = 'blackhole')")
    client = env.execute_sql(
        "INSERT INTO o SELECT largest(m) FROM (SELECT parity(n) AS p FROM t), LATERAL TABLE(twice(p)) AS d (m)"
    ).get_job_client()
    assert client is not None
    yield client
    client.cancel().result()


@pytest.fixture
def process(job: JobClient) -> RemoteProcess:
    """The job's endpoint, once the functions have counted."""
    (entry,) = [one for one in registered_jobs() if one.id == str(job.get_job_id())]
    found = RemoteProcess(entry.url, token_of(entry), timeout=120)
    deadline = time.monotonic() + 60
    while not all(f"{PREFIX}{name}{{" in scraped(found) for name in ("numbers_parity_seen", "made", "largest")):
        assert time.monotonic() < deadline, scraped(found)
        time.sleep(0.05)
    return found


def scraped(process: RemoteProcess) -> str:
    status, text = raw(process, "/metrics", Authorization=f"Bearer {process.token}")
    assert status == 200
    return text


def test_prometheus_has_them_with_labels_of_operator_subtask_and_group(process: RemoteProcess) -> None:
    lines = [line for line in scraped(process).splitlines() if line.startswith(f"{PREFIX}numbers_parity_seen{{")]
    assert {label for line in lines for label in ('parity="even"', 'parity="odd"') if label in line} == {
        'parity="even"', 'parity="odd"',
    }  # fmt: skip
    for line in lines:
        assert 'subtask_index="0"' in line and 'operator_name="' in line and float(line.rpartition(" ")[2]) > 0


def test_rest_has_them_at_the_vertex_of_the_function(process: RemoteProcess, job: JobClient) -> None:
    path = f"/jobs/{job.get_job_id()}/vertices"
    vertices = process.request("GET", path.removesuffix("/vertices"))["vertices"]
    found = {
        name["id"]: process.request("GET", f"{path}/{vertex['id']}/metrics", get=name["id"])[0]["value"]
        for vertex in vertices
        for name in process.request("GET", f"{path}/{vertex['id']}/metrics")
    }
    for ending in (".numbers.parity.odd.seen", ".numbers.parity.even.seen", ".made", ".largest"):
        ((name, value),) = [(name, value) for name, value in found.items() if name.endswith(ending)]
        assert name.startswith("0.") and float(value) > 0, (name, value)
