"""Process table functions answer what Flink answers for the same ones in Java.

`fixtures/flink/process_tables` has those (`Ptfs.java`, which records when it is given the directory of `visits.csv` and
a file of statements), and the recorded answers.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest

from scurry.common.types import Row
from scurry.errors import ScurryError
from scurry.table import ListView, MapView, TableEnvironment
from scurry.table.udf import ArgumentHint, ArgumentTrait, Context, OnTimerContext, ProcessTableFunction, StateHint
from support.statements.tables import environment

SET, ROW = ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.ROW_SEMANTIC_TABLE
RowTable = Annotated[Row, ArgumentHint(ROW)]
SetTable = Annotated[Row, ArgumentHint(SET)]
Timed = Annotated[Row, ArgumentHint(SET, ArgumentTrait.REQUIRE_ON_TIME)]

RECORDED = Path(__file__).parent.parent / "fixtures" / "flink" / "process_tables"
SHORT = {"INSERT": "+I", "UPDATE_BEFORE": "-U", "UPDATE_AFTER": "+U", "DELETE": "-D"}


@dataclasses.dataclass
class Count:
    n: int = 0


@dataclasses.dataclass
class Pair:
    a: int | None = None
    b: str = "start"


@dataclasses.dataclass
class NumberAndText:
    a: int
    b: str


Counted = Annotated[Count, StateHint()]


class RowEcho(ProcessTableFunction):
    def eval(self, t: RowTable, k: int) -> Iterator[str]:
        yield f"{t['who']}/{t[1]}/{text(k)}"


class Passing(ProcessTableFunction):
    def eval(self, t: Annotated[Row, ArgumentHint(ROW, ArgumentTrait.PASS_COLUMNS_THROUGH)]) -> Iterator[int]:
        if t.n % 2 == 0:
            yield t.n
            yield -t.n


class PassingSet(ProcessTableFunction):
    def eval(
        self, c: Counted, t: Annotated[Row, ArgumentHint(SET, ArgumentTrait.PASS_COLUMNS_THROUGH)]
    ) -> Iterator[int]:
        c.n += 1
        yield c.n


class Counts(ProcessTableFunction):
    def eval(self, c: Counted, t: SetTable) -> Iterator[int]:
        c.n += 1
        yield c.n


class OptionalKeys(ProcessTableFunction):
    def eval(
        self, c: Counted, t: Annotated[Row, ArgumentHint(SET, ArgumentTrait.OPTIONAL_PARTITION_BY)]
    ) -> Iterator[int]:
        c.n += 1
        yield c.n


class RowsOut(ProcessTableFunction):
    def eval(self, t: RowTable) -> Iterator[NumberAndText]:
        yield NumberAndText(t.n, "x" + t.page)


class PairState(ProcessTableFunction):
    def eval(self, p: Annotated[Pair, StateHint()], c: Counted, t: SetTable) -> Iterator[str]:
        yield f"{text(p.a)}{p.b}{c.n}"
        p.a, p.b, c.n = t.n, t.page, c.n + 10


class RowState(ProcessTableFunction):
    def eval(self, s: Annotated[Row, StateHint("ROW<last STRING, times INT>")], t: SetTable) -> Iterator[str]:
        yield f"{text(s['last'])}:{text(s['times'])}"
        s["last"], s["times"] = t.page, (s["times"] or 0) + 1


class Lists(ProcessTableFunction):
    def eval(self, seen: Annotated[ListView[str], StateHint()], t: SetTable) -> Iterator[str]:
        seen.add(t.page)
        yield "".join(f"{each}," for each in seen)


class Maps(ProcessTableFunction):
    def eval(self, m: Annotated[MapView[str, int], StateHint()], t: SetTable) -> Iterator[str]:
        m.put(t.page, (m.get(t.page) if m.contains(t.page) else 0) + 1)
        shown = ", ".join(f"{key}={value}" for key, value in sorted(m.items()))
        yield f"{{{shown}}} {str(m.contains('home')).lower()}"


class Clears(ProcessTableFunction):
    def eval(self, ctx: Context, a: Counted, b: Counted, t: SetTable) -> Iterator[str]:
        a.n += 1
        b.n += 1
        yield f"{a.n} {b.n}"
        if t.n == 3:
            ctx.clear_state("a")
        if t.n == 5:
            ctx.clear_all_state()


class Named(ProcessTableFunction):
    def eval(self, ctx: Context, c: Counted, t: Timed) -> Iterator[str]:
        c.n += 1
        time = ctx.time_context()
        time.register_on_time("late", time.time() + datetime.timedelta(seconds=60))
        yield f"row {t.n}"

    def on_timer(self, ctx: OnTimerContext, c: Count) -> Iterator[str]:
        yield f"{ctx.current_timer()} {c.n} {ctx.time_context().time():%Y-%m-%dT%H:%M:%SZ}"


class Unnamed(ProcessTableFunction):
    def eval(self, ctx: Context, c: Counted, t: Timed) -> Iterator[str]:
        c.n += 1
        time = ctx.time_context(int)
        for _ in range(2):
            time.register_on_time(time.time() + 60_000)
        return iter(())

    def on_timer(self, ctx: OnTimerContext, c: Count) -> Iterator[str]:
        yield f"{text(ctx.current_timer())} {c.n} {ctx.time_context(int).time()}"


class Chained(ProcessTableFunction):
    def eval(self, ctx: Context, c: Counted, t: Timed) -> Iterator[str]:
        time = ctx.time_context(int)
        if c.n == 0:
            time.register_on_time("a", time.time() + 10_000)
        c.n += 1
        return iter(())

    def on_timer(self, ctx: OnTimerContext, c: Count) -> Iterator[str]:
        time, name = ctx.time_context(int), ctx.current_timer() or ""
        yield f"{name} {c.n} {time.time()}"
        if len(name) < 3:
            time.register_on_time(name + "a", time.time() + 10_000)


class Cancels(ProcessTableFunction):
    def eval(self, ctx: Context, t: Timed) -> Iterator[str]:
        time = ctx.time_context(int)
        if t.n == 1:
            time.register_on_time("x", time.time() + 100_000)
            time.register_on_time("y", time.time() + 100_000)
            time.register_on_time(time.time() + 100_000)
        if t.n == 3:
            time.clear_timer("x")
        if t.n == 5:
            time.clear_timer(1_735_689_601_000 + 100_000)
        if t.n == 6:
            time.register_on_time("z", time.time() + 5000)
            ctx.clear_all_timers()
        return iter(())

    def on_timer(self, ctx: OnTimerContext) -> Iterator[str]:
        yield text(ctx.current_timer())


class Past(ProcessTableFunction):
    def eval(self, ctx: Context, t: Timed) -> Iterator[str]:
        time = ctx.time_context(int)
        time.register_on_time(f"p{t.n}", time.time() - 600_000)
        yield f"row {t.n}"

    def on_timer(self, ctx: OnTimerContext) -> Iterator[str]:
        yield f"{ctx.current_timer()} {ctx.time_context(int).time()}"


class Marks(ProcessTableFunction):
    def eval(self, ctx: Context, t: SetTable) -> Iterator[str]:
        time = ctx.time_context(int)
        yield f"{t.n} {text(time.time())} {text(time.current_watermark())}"


class Two(ProcessTableFunction):
    def eval(self, c: Counted, a: SetTable, b: SetTable) -> Iterator[str]:
        yield f"r{b.n}" if a is None else f"l{a.n}"


class TwoTimers(ProcessTableFunction):
    def eval(self, ctx: Context, c: Counted, a: Timed, b: Timed) -> Iterator[str]:
        c.n += 100 if a is None else 1
        ctx.time_context(int).register_on_time("end", 1_735_699_600_000)
        return iter(())

    def on_timer(self, ctx: OnTimerContext, c: Count) -> Iterator[str]:
        yield f"{ctx.current_timer()}{c.n}"


class Semantics(ProcessTableFunction):
    def eval(self, ctx: Context, t: SetTable) -> Iterator[str]:
        table = ctx.table_semantics_for("t")
        names = ", ".join(table.data_type().field_names())
        yield f"{list(table.partition_by_columns())} {table.time_column()} [{names}]"


class Scalars(ProcessTableFunction):
    def eval(self, a: int, b: int) -> Iterator[int]:
        yield from range(a, b)


FUNCTIONS: tuple[type[ProcessTableFunction], ...] = (
    RowEcho, Passing, PassingSet, Counts, OptionalKeys, RowsOut, PairState, RowState, Lists, Maps, Clears, Named,
    Unnamed, Chained, Cancels, Past, Marks, Two, TwoTimers, Semantics, Scalars,
)  # fmt: skip


def text(value: Any) -> str:
    """As `Ptfs.java` writes it."""
    if isinstance(value, datetime.datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%S").removesuffix(":00")
    return "null" if value is None else str(value)


def recorded() -> dict[str, list[str]]:
    parts = (RECORDED / "recorded.txt").read_text().split("## ")[1:]
    return {lines[0]: lines[1:] for lines in (part.splitlines() for part in parts)}


ANSWERS = recorded()


@pytest.fixture(scope="module")
def env() -> TableEnvironment:
    env = environment(**{"parallelism.default": "1", "table.local-time-zone": "UTC"})
    env.execute_sql(
        "CREATE TABLE visits (who STRING, page STRING, n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) "
        f"WITH ('connector' = 'filesystem', 'path' = '{RECORDED / 'visits.csv'}', 'format' = 'csv')"
    )
    env.execute_sql("CREATE VIEW counted AS SELECT who, COUNT(*) AS c FROM visits GROUP BY who")
    for function in FUNCTIONS:
        env.create_temporary_system_function(function.__name__.lower(), function())
    return env


@pytest.mark.parametrize("statement", [each for each in ANSWERS if not ANSWERS[each][0].startswith("ERROR")])
def test_rows_are_flinks(env: TableEnvironment, statement: str) -> None:
    names, *expected = ANSWERS[statement]
    result = env.execute_sql(statement)
    assert " ".join(result.get_table_schema().get_field_names()) == names
    with result.collect() as found:
        assert sorted(f"{SHORT[row.get_row_kind().name]} {'|'.join(map(text, row))}" for row in found) == expected


@pytest.mark.parametrize("statement", [each for each in ANSWERS if ANSWERS[each][0].startswith("ERROR")])
def test_refusals_are_flinks(env: TableEnvironment, statement: str) -> None:
    with pytest.raises(ScurryError) as refused:
        env.execute_sql(statement)
    assert ANSWERS[statement][0].removeprefix("ERROR ") in str(refused.value)
