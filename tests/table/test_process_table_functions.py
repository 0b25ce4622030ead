"""Process table functions: the examples of Flink's documentation, and what each part of a call means."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scurry.common.types import Row
from scurry.errors import ArgumentError, ArgumentTypeError, ScurryError, ValidationError
from scurry.table import ListView, MapView, TableEnvironment
from scurry.table.expressions import col, descriptor, lit
from scurry.table.udf import (
    ArgumentHint,
    ArgumentTrait,
    Context,
    OnTimerContext,
    ProcessTableFunction,
    StateHint,
    udptf,
)
from support.cases import cases
from support.statements.fed_queries import FedQuery
from support.statements.tables import environment, files, rows, write

SET, ROW = ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.ROW_SEMANTIC_TABLE
ON_TIME = ArgumentTrait.REQUIRE_ON_TIME

Timed = Annotated[Row, ArgumentHint(SET, ON_TIME)]
RowTable = Annotated[Row, ArgumentHint(ROW)]
SetTable = Annotated[Row, ArgumentHint(SET)]


@dataclasses.dataclass
class Count:
    counter: int = 0


class Greeting(ProcessTableFunction):
    def eval(self, input: RowTable) -> Iterator[str]:
        yield f"Hello {input.name}!"


class GreetingWithMemory(ProcessTableFunction):
    def eval(self, state: Annotated[Count, StateHint()], input: SetTable) -> Iterator[str]:
        state.counter += 1
        yield f"Hello {input.name}, your {state.counter} time?"


class GreetingWithFollowUp(ProcessTableFunction):
    def eval(self, ctx: Context, state: Annotated[Count, StateHint()], input: Timed) -> Iterator[str]:
        state.counter += 1
        yield f"{input.name} {state.counter}"
        time = ctx.time_context()
        time.register_on_time(time.time() + datetime.timedelta(minutes=1))

    def on_timer(self, state: Count) -> Iterator[str]:
        yield f"after {state.counter}"


class PingLater(ProcessTableFunction):
    def eval(self, ctx: Context, event: Timed) -> Iterator[str]:
        time = ctx.time_context(int)
        time.register_on_time("ping", time.time() + 60_000)
        return iter(())

    def on_timer(self, ctx: OnTimerContext) -> Iterator[str]:
        yield f"{ctx.current_timer()} at {ctx.time_context(int).time() // 1000 % 3600}"


class TableFilter(ProcessTableFunction):
    def eval(self, input: RowTable, threshold: int) -> Iterator[tuple[int, str]]:
        if input.score > threshold:
            yield threshold, input.name


class Cart:
    def __init__(self) -> None:
        self.content: dict[int, int] = {}


class Checkout(ProcessTableFunction):
    def eval(
        self,
        ctx: Context,
        cart: Annotated[Cart, StateHint()],
        events: Timed,
        reminder: datetime.timedelta,
        timeout: datetime.timedelta,
    ) -> Iterator[tuple[str, dict[int, int]]]:
        if events.kind == "ADD":
            cart.content[events.product] = cart.content.get(events.product, 0) + 1
        elif events.kind == "REMOVE":
            cart.content.pop(events.product)
        else:
            yield "CHECKOUT", cart.content
        if events.kind == "CHECKOUT" or not cart.content:
            ctx.clear_all()
            return
        time = ctx.time_context()
        time.register_on_time("REMINDER", time.time() + reminder)
        time.register_on_time("TIMEOUT", time.time() + timeout)

    def on_timer(self, ctx: OnTimerContext, cart: Cart) -> Iterator[tuple[str, dict[int, int]]]:
        if ctx.current_timer() == "TIMEOUT":
            ctx.clear_all()
        else:
            yield "REMINDER", cart.content


class PurchasesAfterVisits(ProcessTableFunction):
    def eval(self, seen: Annotated[ListView[str], StateHint()], visits: SetTable, purchases: SetTable) -> Iterator[str]:
        if visits is not None:
            seen.add(visits.page)
        else:
            yield f"{purchases.product} after {', '.join(seen)}"


@pytest.fixture(params=[True, False], ids=["STREAMING", "BATCH"])
def env(request: Any, tmp_path: Path) -> TableEnvironment:
    env = environment(request.param)
    scores = [("Bob", 1), ("Alice", 2), ("Bob", 3)]
    env.create_temporary_view("people", env.from_elements(scores, ["name", "score"]))
    times = [("Bob", 1), ("Alice", 5), ("Bob", 30)]
    write(tmp_path / "timed", "0", *({"name": name, "ts": f"2025-01-01 00:00:{at:02}"} for name, at in times))
    files(env, "timed", "name STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts", tmp_path / "timed")
    return env


def minute(time: datetime.datetime) -> str:
    return f"{time:%M:%S}"


def test_a_table_with_row_semantics_is_taken_row_by_row(env: TableEnvironment) -> None:
    env.create_temporary_function("greeting", Greeting())
    found = env.sql_query("SELECT * FROM greeting(TABLE people)")
    assert found.get_schema().get_field_names() == ["EXPR$0"]
    assert sorted(row[0] for row in found.execute().collect()) == ["Hello Alice!", "Hello Bob!", "Hello Bob!"]


def test_a_table_with_set_semantics_has_state_by_key_and_its_keys_come_first(env: TableEnvironment) -> None:
    env.create_temporary_function("greeting", GreetingWithMemory())
    assert rows(env, "SELECT * FROM greeting(TABLE people PARTITION BY name)") == [
        ("Alice", "Hello Alice, your 1 time?"),
        ("Bob", "Hello Bob, your 1 time?"),
        ("Bob", "Hello Bob, your 2 time?"),
    ]


def test_unnamed_timers_fire_each_and_rowtime_is_their_time(env: TableEnvironment) -> None:
    env.create_temporary_function("greeting", GreetingWithFollowUp())
    found = rows(env, "SELECT * FROM greeting(input => TABLE timed PARTITION BY name, on_time => DESCRIPTOR(ts))")
    assert [(name, text, minute(time)) for name, text, time in found] == [
        ("Alice", "Alice 1", "00:05"),
        ("Alice", "after 1", "01:05"),
        ("Bob", "Bob 1", "00:01"),
        ("Bob", "Bob 2", "00:30"),
        ("Bob", "after 2", "01:01"),
        ("Bob", "after 2", "01:30"),
    ]


def test_timers_fire_as_soon_as_a_row_has_raised_the_watermark(tmp_path: Path) -> None:
    env = environment()
    times = [("Bob", "00:01"), ("Bob", "01:30"), ("Bob", "01:40"), ("Bob", "03:00")]
    write(tmp_path / "t", "0", *({"name": name, "ts": f"2025-01-01 00:{at}"} for name, at in times))
    files(env, "t", "name STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts", tmp_path / "t")
    env.create_temporary_function("greeting", GreetingWithFollowUp())
    found = rows(env, "SELECT * FROM greeting(input => TABLE t PARTITION BY name, on_time => DESCRIPTOR(ts))")
    fired = [(text, minute(time)) for _, text, time in found if text.startswith("after")]
    assert fired == [("after 2", "01:01"), ("after 4", "02:30"), ("after 4", "02:40"), ("after 4", "04:00")]


def test_a_timer_of_a_name_replaces_the_one_before(env: TableEnvironment) -> None:
    env.create_temporary_function("ping", PingLater())
    found = rows(env, "SELECT * FROM ping(event => TABLE timed PARTITION BY name, on_time => DESCRIPTOR(ts))")
    assert [row[:2] for row in found] == [("Alice", "ping at 65"), ("Bob", "ping at 90")]


@pytest.mark.parametrize(
    "call",
    [
        "f(TABLE people, 1)",
        "f(TABLE people, 1, DEFAULT, 'my-ptf')",
        "f(threshold => 1, input => TABLE people, uid => 'my-ptf')",
    ],
)
def test_arguments_are_given_by_position_or_by_name(env: TableEnvironment, call: str) -> None:
    env.create_temporary_function("f", TableFilter())
    assert rows(env, f"SELECT * FROM {call}") == [(1, "Alice"), (1, "Bob")]


def test_the_table_api_calls_functions_that_are_not_registered(env: TableEnvironment) -> None:
    people = env.from_path("people")
    for table in (
        people.process(TableFilter(), 1),
        people.process(udptf(TableFilter()), lit(1).as_argument("threshold")),
        env.from_call(TableFilter(), people.as_argument("input"), lit(1).as_argument("threshold")),
    ):
        assert sorted(map(tuple, table.execute().collect())) == [(1, "Alice"), (1, "Bob")]
    pings = (
        env.from_path("timed").partition_by(col("name")).process(PingLater(), descriptor("ts").as_argument("on_time"))
    )
    assert sorted(row[1] for row in pings.execute().collect()) == ["ping at 65", "ping at 90"]


def test_functions_follow_each_other_by_rowtime(env: TableEnvironment) -> None:
    env.create_temporary_function("ping", PingLater())
    found = rows(
        env,
        "WITH first AS (SELECT * FROM ping(event => TABLE timed PARTITION BY name, on_time => DESCRIPTOR(ts), uid => "
        "'a')) SELECT * FROM ping(event => TABLE first PARTITION BY name, on_time => DESCRIPTOR(rowtime), uid => 'b')",
    )
    assert [row[:2] for row in found] == [("Alice", "ping at 125"), ("Bob", "ping at 150")]


def test_a_shopping_cart_reminds_and_times_out(env: TableEnvironment, tmp_path: Path) -> None:
    events = [
        ("Bob", "ADD", 1, "00:11"), ("Alice", "ADD", 1, "00:21"), ("Bob", "REMOVE", 1, "00:51"),
        ("Bob", "ADD", 2, "00:55"), ("Bob", "ADD", 5, "00:56"), ("Bob", "CHECKOUT", None, "01:50"),
    ]  # fmt: skip
    names = ("u", "kind", "product", "ts")
    write(
        tmp_path / "events", "0", *(dict(zip(names, (*row, f"2025-03-27 12:{at}"), strict=True)) for *row, at in events)
    )
    columns = "u STRING, kind STRING, product BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts"
    files(env, "events", columns, tmp_path / "events")
    env.create_temporary_function("checkout", Checkout())
    found = rows(
        env,
        "SELECT * FROM checkout(events => TABLE events PARTITION BY u, reminder => INTERVAL '90' SECOND, "
        "timeout => INTERVAL '2' DAY, on_time => DESCRIPTOR(ts), uid => 'cart-processor')",
    )
    assert [(user, kind, items, minute(time)) for user, kind, items, time in found] == [
        ("Alice", "REMINDER", {1: 1}, "01:51"),
        ("Bob", "CHECKOUT", {2: 1, 5: 1}, "01:50"),
    ]


def test_tables_with_the_same_keys_share_the_state_of_a_key() -> None:
    env = environment(False)
    env.execute_sql("CREATE TEMPORARY VIEW visits(name, page) AS VALUES ('Bob', 'home'), ('Bob', 'shoes')")
    env.execute_sql("CREATE TEMPORARY VIEW purchases(name, product) AS VALUES ('Bob', 'boots'), ('Eve', 'hat')")
    env.create_temporary_function("f", PurchasesAfterVisits())
    found = rows(
        env,
        "SELECT * FROM f(visits => TABLE visits PARTITION BY name, purchases => TABLE purchases PARTITION BY name)",
    )
    assert found == [("Bob", "Bob", "boots after home, shoes"), ("Eve", "Eve", "hat after ")]


class PassedThrough(ProcessTableFunction):
    def eval(self, t: Annotated[Row, ArgumentHint(SET, ArgumentTrait.PASS_COLUMNS_THROUGH)]) -> Iterator[int]:
        yield len(t.name)


def test_all_columns_of_a_table_that_is_passed_through_come_first(env: TableEnvironment) -> None:
    env.create_temporary_function("f", PassedThrough())
    assert rows(env, "SELECT * FROM f(TABLE people PARTITION BY name)") == [
        ("Alice", 2, 5),
        ("Bob", 1, 3),
        ("Bob", 3, 3),
    ]


class CountAll(ProcessTableFunction):
    def eval(
        self,
        ctx: Context,
        state: Annotated[Row, StateHint("ROW<n BIGINT>")],
        names: Annotated[MapView[str, int], StateHint()],
        t: Annotated[Row, ArgumentHint(SET, ArgumentTrait.OPTIONAL_PARTITION_BY)],
    ) -> Iterator[tuple[int, int]]:
        state["n"] = (state["n"] or 0) + 1
        names[t.name] = 1
        yield state["n"], len(list(names))
        if state["n"] == 2:
            ctx.clear_state("state")


def test_without_partition_by_all_rows_share_state_of_rows_and_views(env: TableEnvironment) -> None:
    env.create_temporary_function("f", CountAll())
    assert rows(env, "SELECT * FROM f(TABLE people)") == [(1, 1), (1, 2), (2, 2)]


@dataclasses.dataclass
class Person:
    name: str
    score: int


class Doubled(ProcessTableFunction):
    def eval(self, person: Annotated[Person, ArgumentHint(ROW)]) -> Iterator[Person]:
        yield Person(person.name.upper(), 2 * person.score)


def test_rows_are_dataclasses_where_the_annotation_says_so(env: TableEnvironment) -> None:
    env.create_temporary_function("f", Doubled())
    assert rows(env, "SELECT name, score FROM f(TABLE people)") == [("ALICE", 4), ("BOB", 2), ("BOB", 6)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("memory(TABLE people)", "Table argument 'input' requires a PARTITION BY clause for parallel processing."),
        ("row_wise(TABLE people PARTITION BY name)", "Only tables with set semantics may be partitioned."),
        ("ping(TABLE timed PARTITION BY name)", "Table argument 'event' requires a time attribute. Please provide one"),
        ("row_wise(TABLE people, on_time => DESCRIPTOR(nope))", "does not take this argument|Unknown references"),
        ("ping(TABLE timed PARTITION BY name, DESCRIPTOR(nope))", "requires a time attribute"),
        ("row_wise(TABLE people, DEFAULT, '1x')", "The `uid` argument must be a string literal that follows"),
        ("row_wise(1)", "Table expected for argument 'input'."),
        ("memory(TABLE people PARTITION BY nope)", "Invalid column 'nope' for PARTITION BY clause."),
    ],
)
def test_wrong_calls_are_refused_in_flinks_words(env: TableEnvironment, call: str, message: str) -> None:
    for name, function in {"memory": GreetingWithMemory(), "row_wise": Greeting(), "ping": PingLater()}.items():
        env.create_temporary_function(name, function)
    with pytest.raises(ValidationError, match=message):
        env.execute_sql(f"SELECT * FROM {call}")


def test_updates_of_a_table_are_refused_in_flinks_words() -> None:
    env = environment()
    env.create_temporary_view("people", env.from_elements([("Bob", 1)], ["name", "score"]))
    env.create_temporary_function("f", GreetingWithMemory())
    env.execute_sql("CREATE TEMPORARY VIEW counted AS SELECT name, COUNT(*) AS n FROM people GROUP BY name")
    with pytest.raises(
        ValidationError, match="StreamPhysicalProcessTableFunction doesn't support consuming update changes"
    ):
        env.execute_sql("SELECT * FROM f(TABLE counted PARTITION BY name)")


def test_two_calls_with_state_need_different_identifiers() -> None:
    env = environment()
    env.create_temporary_view("people", env.from_elements([("Bob", 1)], ["name", "score"]))
    env.create_temporary_function("f", GreetingWithMemory())
    one, other = (f"SELECT * FROM f(TABLE people PARTITION BY {key})" for key in ("name", "(name, score)"))
    with pytest.raises(ValidationError, match="Duplicate unique identifier 'f' detected among process table functions"):
        rows(env, f"SELECT name FROM ({one}) UNION ALL SELECT name FROM ({other})")


class LateTimer(ProcessTableFunction):
    def eval(self, ctx: Context, t: RowTable) -> Iterator[str]:
        ctx.time_context(int).register_on_time(5)
        yield ""


def test_functions_of_rows_have_no_timers(env: TableEnvironment) -> None:
    env.create_temporary_function("f", LateTimer())
    with pytest.raises(ScurryError, match="Timers are not supported in the current PTF declaration"):
        rows(env, "SELECT * FROM f(TABLE people)")


class Failing(ProcessTableFunction):
    def eval(self, t: RowTable) -> Iterator[float]:
        yield 1 / (t.score - 2)


def test_a_failure_names_the_users_line_and_the_row(env: TableEnvironment) -> None:
    env.create_temporary_function("f", Failing())
    with pytest.raises(ScurryError) as caught:
        rows(env, "SELECT * FROM f(TABLE people)")
    assert "yield 1 / (t.score - 2)" in str(caught.value)
    assert "Alice" in str(caught.value)


def test_declarations_that_make_no_sense_are_refused() -> None:
    class StateOfRows(ProcessTableFunction):
        def eval(self, state: Annotated[Count, StateHint()], t: RowTable) -> Iterator[str]:
            yield ""

    class Unannotated(ProcessTableFunction):
        def eval(self, t):  # type: ignore[no-untyped-def]
            yield ""

    class OtherState(ProcessTableFunction):
        def eval(self, state: Annotated[Count, StateHint()], t: SetTable) -> Iterator[str]:
            yield ""

        def on_timer(self, ctx: OnTimerContext) -> Iterator[str]:
            yield ""

    with pytest.raises(ArgumentError, match="only functions of tables with set semantics have state"):
        udptf(StateOfRows())
    with pytest.raises(ArgumentTypeError, match="parameter 't' of Unannotated.eval needs an annotation"):
        udptf(Unannotated())
    with pytest.raises(ArgumentError, match="on_timer takes the entries of state that eval takes"):
        udptf(OtherState())


class CountsAndTimers(ProcessTableFunction):
    def eval(
        self,
        ctx: Context,
        state: Annotated[Count, StateHint()],
        seen: Annotated[ListView[int], StateHint()],
        t: Timed,
    ) -> Iterator[tuple[str, int]]:
        state.counter += 1
        seen.add(t.id)
        yield "row", 100 * state.counter + len(list(seen))
        time = ctx.time_context(int)
        time.register_on_time(time.time() + 10_000)
        time.register_on_time(f"named {t.id}", time.time() + 20_000)
        if t.id % 3 == 0:
            time.clear_timer(f"named {t.id}")

    def on_timer(self, ctx: OnTimerContext, state: Count, seen: ListView[int]) -> Iterator[tuple[str, int]]:
        yield ctx.current_timer() or "unnamed", 0


def final_rows(batches: list[list[Any]], parallelism: list[int]) -> list[tuple[Any, ...]]:
    env = environment()
    files(env, "t", "id INT, k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND", Path("/none"))
    env.create_temporary_function("f", CountsAndTimers())
    query = FedQuery(env, "SELECT * FROM f(t => TABLE t PARTITION BY k, on_time => DESCRIPTOR(ts))", parallelism[0])
    for number, batch in enumerate(batches):
        if 0 < number < len(parallelism):
            query.restart(parallelism[number])
        query.feed([("t", [change]) for change in batch])
    query.end()
    return query.rows()


@given(cuts=st.sets(st.integers(1, 39), max_size=4), parallelism=st.lists(st.integers(1, 3), min_size=1, max_size=4))
@settings(max_examples=cases(10), deadline=None)
def test_any_cut_restart_and_parallelism_gives_the_same_rows(cuts: set[int], parallelism: list[int]) -> None:
    changes = [
        ("+I", {"id": number, "k": "abc"[number * number % 3], "ts": (1_704_067_200 + number - number % 3) * 1000})
        for number in range(40)
    ]
    bounds = [0, *sorted(cuts), len(changes)]
    batches = [changes[start:stop] for start, stop in zip(bounds, bounds[1:], strict=False)]
    found = final_rows(batches, parallelism)
    assert found == final_rows([changes], [1])
    assert sum(row[1] == "row" for row in found) == 40
    assert sum(row[1].startswith("named") for row in found) == 26


class CountOfAnHour(ProcessTableFunction):
    def eval(self, state: Annotated[Count, StateHint(ttl="1 h")], t: SetTable) -> Iterator[int]:
        state.counter += 1
        yield state.counter


def test_state_is_forgotten_when_it_has_not_changed_for_its_time_to_live() -> None:
    env = environment()
    files(env, "t", "id INT, k STRING", Path("/none"))
    env.create_temporary_function("f", CountOfAnHour())
    query = FedQuery(env, "SELECT * FROM f(t => TABLE t PARTITION BY k)")
    minutes = {"a": (0, 50, 100, 170), "b": (0, 50)}
    for now in sorted({each for times in minutes.values() for each in times}):
        query._harness.advance_processing_time(now * 60_000)
        query.feed([("t", [("+I", {"id": 0, "k": key})]) for key, times in minutes.items() if now in times])
    query.end()
    assert query.rows() == [("a", 1), ("a", 1), ("a", 2), ("a", 3), ("b", 1), ("b", 2)]
