"""Savepoints that jobs of the DataStream API leave, as tables: what the job declared is what the columns may be."""

from __future__ import annotations

from typing import Any

import pytest

from scurry.common import Configuration, Row
from scurry.common.typeinfo import Types
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.functions import AggregateFunction, KeyedProcessFunction
from scurry.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from scurry.errors import StateNotFoundError, UnsupportedError, ValidationError
from support.statements.tables import environment, rows


class Mean(AggregateFunction):
    def create_accumulator(self) -> Any:
        return (0, 0)

    def add(self, value: Any, accumulator: Any) -> Any:
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator: Any) -> Any:
        return accumulator[0] / accumulator[1]

    def merge(self, a: Any, b: Any) -> Any:
        return a[0] + b[0], a[1] + b[1]


class Visits(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        accumulator = Types.TUPLE([Types.LONG(), Types.LONG()])
        self.last = runtime_context.get_state(
            ValueStateDescriptor("last", Types.ROW_NAMED(["page", "seconds"], [Types.STRING(), Types.INT()]))
        )
        self.pages = runtime_context.get_list_state(ListStateDescriptor("pages", Types.STRING()))
        self.times = runtime_context.get_map_state(MapStateDescriptor("times", Types.STRING(), Types.INT()))
        self.total = runtime_context.get_reducing_state(
            ReducingStateDescriptor("total", lambda a, b: a + b, Types.INT())
        )
        self.mean = runtime_context.get_aggregating_state(AggregatingStateDescriptor("mean", Mean(), accumulator))

    def process_element(self, value: Any, ctx: Any) -> Any:
        _, page, seconds = value
        self.last.update(Row(page, seconds))
        self.pages.add(page)
        self.times.put(page, seconds)
        self.total.add(seconds)
        self.mean.add(seconds)
        yield value


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    directory = tmp_path_factory.mktemp("kept")
    settings = Configuration()
    settings.set_string("scurry.runner", "local")
    settings.set_string("execution.runtime-mode", "BATCH")
    settings.set_string("scurry.final-savepoint.dir", str(directory))
    env = StreamExecutionEnvironment.get_execution_environment(settings)
    visits = env.from_collection([(1, "home", 3), (2, "shop", 5), (1, "shop", 7)])
    visits.key_by(lambda visit: visit[0], Types.LONG()).process(Visits()).uid("visits").print()
    visits.key_by(lambda visit: visit[1]).reduce(lambda a, b: b).uid("newest").print()
    visits.key_by(lambda visit: visit[0]).count_window(5).reduce(lambda a, b: b).uid("windows").print()
    env.execute("visits")
    (kept,) = directory.iterdir()
    return str(kept)


def read(columns: str, path: str, uid: str = "visits", streaming: bool = False) -> list[tuple[Any, ...]]:
    env = environment(streaming)
    env.execute_sql(
        f"CREATE TABLE s ({columns}, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'savepoint', "
        f"'state.path' = '{path}', 'operator.uid' = '{uid}')"
    )
    return rows(env, "SELECT * FROM s")


@pytest.mark.parametrize("streaming", [False, True])
def test_every_kind_of_state_of_a_job_is_read(streaming: bool, path: str) -> None:
    columns = (
        "k BIGINT, `last` ROW<seconds INT, page STRING>, pages ARRAY<STRING>, times MAP<STRING, INT>, total INT, "
        "mean ROW<s BIGINT, n BIGINT>"
    )
    assert read(columns, path, streaming=streaming) == [
        (1, Row(7, "shop"), ["home", "shop"], {"home": 3, "shop": 7}, 10, Row(10, 2)),
        (2, Row(5, "shop"), ["shop"], {"shop": 5}, 5, Row(5, 1)),
    ]


def test_the_value_of_a_rolling_reduce_is_read(path: str) -> None:
    found = read("k STRING, reduce ROW<id INT, page STRING, seconds INT>", path, "newest")
    assert found == [("home", Row(1, "home", 3)), ("shop", Row(1, "shop", 7))]


def test_keys_of_another_type_are_refused(path: str) -> None:
    with pytest.raises(ValidationError, match="Column 'k' is INT, and the keys of operator 'visits' are"):
        read("k INT, total INT", path)
    assert read("k STRING, total INT", path) == [("1", 10), ("2", 5)]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("total SMALLINT", "Column 'total' is SMALLINT, and state 'total' of operator 'visits' has values of type INT"),
        ("mean ROW<s BIGINT>", "state 'mean' .* type "),
        ("times MAP<STRING, STRING>, pages ARRAY<BIGINT>", "state 'pages' .* type ARRAY<STRING>"),
    ],
)
def test_types_that_the_job_did_not_declare_are_refused(column: str, message: str, path: str) -> None:
    with pytest.raises(ValidationError, match=message):
        read(f"k BIGINT, {column}", path)


def test_states_that_the_job_did_not_have_are_refused(path: str) -> None:
    with pytest.raises(StateNotFoundError, match="no state 'totals'; did you mean 'total'"):
        read("k BIGINT, totals INT", path)


def test_contents_of_windows_have_no_tables(path: str) -> None:
    with pytest.raises(UnsupportedError, match="'window-contents' of operator 'windows' is that of windows"):
        read("k INT, `window-contents` STRING", path, "windows")
