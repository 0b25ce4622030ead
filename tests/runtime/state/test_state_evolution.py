"""State of declared types goes on in a changed program: what evolves, what is converted, what is refused."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from scurry.common import Row, Time, Types
from scurry.datastream.functions import AggregateFunction, ProcessJoinFunction, ProcessWindowFunction
from scurry.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from scurry.datastream.window import EventTimeSessionWindows, TumblingEventTimeWindows
from scurry.errors import ArgumentError, ArgumentTypeError, OperatorError, StateMigrationError
from scurry.testing import TestHarness
from support.runtime.program_versions import KEY, restored, taken_over, written

PERSON = Types.ROW_NAMED(["name", "hits"], [Types.STRING(), Types.INT()])
ANN = Row(name="ann", hits=3)


def row_type(**fields: Any) -> Any:
    return Types.ROW_NAMED(list(fields), list(fields.values()))


def value_of(declared: Any, **migration: Any) -> ValueStateDescriptor:
    descriptor = ValueStateDescriptor("profile", declared)
    return descriptor.with_migration(**migration) if migration else descriptor


# ---------------------------------------------------------------- fields of rows


def test_an_added_field_is_none() -> None:
    after = row_type(name=Types.STRING(), hits=Types.INT(), level=Types.INT())
    assert taken_over(value_of(PERSON), "update", ANN, value_of(after)) == Row(name="ann", hits=3, level=None)


def test_an_added_field_takes_its_declared_default() -> None:
    after = value_of(row_type(level=Types.INT(), name=Types.STRING(), hits=Types.INT()), defaults={"level": 1})
    assert taken_over(value_of(PERSON), "update", ANN, after) == Row(level=1, name="ann", hits=3)


def test_a_removed_field_goes() -> None:
    assert taken_over(value_of(PERSON), "update", ANN, value_of(row_type(hits=Types.INT()))) == Row(hits=3)


def test_a_renamed_field_keeps_its_value() -> None:
    after = value_of(row_type(name=Types.STRING(), visits=Types.INT()), renamed={"hits": "visits"})
    assert taken_over(value_of(PERSON), "update", ANN, after) == Row(name="ann", visits=3)


def test_fields_may_change_places() -> None:
    held = taken_over(value_of(PERSON), "update", ANN, value_of(row_type(hits=Types.INT(), name=Types.STRING())))
    assert list(held) == [3, "ann"]


def test_rows_within_rows_evolve_too() -> None:
    before = value_of(row_type(person=PERSON, tags=Types.LIST(PERSON)))
    after = value_of(row_type(person=row_type(name=Types.STRING()), tags=Types.LIST(row_type(hits=Types.LONG()))))
    held = taken_over(before, "update", Row(person=ANN, tags=[ANN]), after)
    assert held == Row(person=Row(name="ann"), tags=[Row(hits=3)])


def test_a_rename_that_was_done_may_stay_declared() -> None:
    after = value_of(row_type(name=Types.STRING(), visits=Types.INT()), renamed={"hits": "visits"})
    with restored(written((value_of(PERSON), "update", ANN)), after) as harness:
        snapshot = harness.snapshot()
    longer = value_of(row_type(name=Types.STRING(), visits=Types.LONG()), renamed={"hits": "visits"})
    with restored(snapshot, longer) as harness:
        assert harness.state(longer, KEY) == Row(name="ann", visits=3)


def test_an_unchanged_state_is_not_touched() -> None:
    snapshot = written((value_of(PERSON), "update", ANN))
    with restored(snapshot, value_of(PERSON, renamed={"old": "hits"})) as harness:
        assert harness.snapshot().operators == snapshot.operators


# ---------------------------------------------------------------- types


@pytest.mark.parametrize(
    ("before", "after", "value", "expected"),
    [
        (Types.INT(), Types.LONG(), 3, 3),
        (Types.LONG(), Types.DOUBLE(), 3, 3.0),
        (Types.INT(), Types.FLOAT(), 3, 3.0),
        (Types.FLOAT(), Types.DOUBLE(), 0.5, 0.5),
        (Types.LONG(), Types.BIG_INT(), 3, 3),
        (Types.LONG(), Types.BIG_DEC(), 3, Decimal(3)),
        (Types.DOUBLE(), Types.BIG_DEC(), 0.1, Decimal("0.1")),
        (Types.CHAR(), Types.STRING(), "c", "c"),
        (Types.TUPLE([Types.INT(), PERSON]), Types.TUPLE([Types.DOUBLE(), PERSON]), (1, ANN), (1.0, ANN)),
        (Types.MAP(Types.STRING(), Types.INT()), Types.MAP(Types.STRING(), Types.DOUBLE()), {"a": 1}, {"a": 1.0}),
        (Types.PRIMITIVE_ARRAY(Types.BYTE()), Types.PRIMITIVE_ARRAY(Types.INT()), b"\1\2", [1, 2]),
        (Types.INT(), None, 3, 3),
        (None, Types.DOUBLE(), 3, 3.0),
    ],
)  # fmt: skip
def test_types_widen(before: Any, after: Any, value: Any, expected: Any) -> None:
    held = taken_over(value_of(before), "update", value, value_of(after))
    assert (held, type(held)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (Types.STRING(), Types.LONG(), "STRING cannot become LONG"),
        (Types.LONG(), Types.INT(), "LONG cannot become INT"),
        (PERSON, row_type(name=Types.STRING(), hits=Types.STRING()), "field 'hits': INT cannot become STRING"),
        (Types.LIST(Types.STRING()), Types.LIST(Types.INT()), "elements: STRING cannot become INT"),
        (Types.MAP(Types.INT(), Types.INT()), Types.MAP(Types.STRING(), Types.INT()), "keys: INT cannot become STRING"),
        (Types.TUPLE([Types.INT()]), Types.TUPLE([Types.INT(), Types.INT()]), "tuples do not evolve"),
        (PERSON, Types.STRING(), "ROW<name STRING, hits INT> cannot become STRING"),
    ],
)
def test_other_changes_are_refused_before_anything_runs(before: Any, after: Any, said: str) -> None:
    snapshot = written((value_of(before), "update", _a_value_of(before)))
    with pytest.raises(StateMigrationError) as error:
        restored(snapshot, value_of(after))
    message = str(error.value)
    assert said in message
    assert "state 'profile' of operator 'Keep' (uid 'keep')" in message
    assert "stored as value of type" in message and "with_migration(convert=...)" in message


def _a_value_of(declared: Any) -> Any:
    values = {Types.STRING(): "s", Types.LONG(): 1, PERSON: ANN, Types.LIST(Types.STRING()): ["s"]}
    return values.get(declared, (1,) if declared == Types.TUPLE([Types.INT()]) else {1: 1})


def test_another_kind_of_state_is_refused() -> None:
    snapshot = written((ValueStateDescriptor("profile", Types.INT()), "update", 1))
    with pytest.raises(StateMigrationError, match="a value state cannot become a list state"):
        restored(snapshot, ListStateDescriptor("profile", Types.INT()))


def test_a_value_that_does_not_fit_the_type_it_now_has_is_named() -> None:
    snapshot = written((value_of(None), "update", "three"))
    with pytest.raises(StateMigrationError, match="operator 'Keep'.*key 'k': state 'profile'.*'three'"):
        restored(snapshot, value_of(Types.LONG()))


def test_an_unknown_field_in_a_migration_is_refused() -> None:
    snapshot = written((value_of(PERSON), "update", ANN))
    with pytest.raises(StateMigrationError, match="names a field 'vists', and the row type has name, hits"):
        restored(snapshot, value_of(row_type(name=Types.STRING(), hits=Types.LONG()), renamed={"hits": "vists"}))


def test_a_default_must_be_of_the_fields_type() -> None:
    snapshot = written((value_of(PERSON), "update", ANN))
    after = row_type(name=Types.STRING(), hits=Types.INT(), level=Types.INT())
    with pytest.raises(StateMigrationError, match="the default of field 'level' does not fit"):
        restored(snapshot, value_of(after, defaults={"level": "high"}))


# ---------------------------------------------------------------- kinds of state


def test_elements_of_a_list_evolve() -> None:
    before, after = ListStateDescriptor("l", PERSON), ListStateDescriptor("l", row_type(visits=Types.LONG()))
    held = taken_over(before, "add_all", [ANN, ("bob", 4)], after.with_migration(renamed={"hits": "visits"}))
    assert held == [Row(visits=3), Row(visits=4)]


def test_values_of_a_map_evolve_and_its_keys_stay() -> None:
    before = MapStateDescriptor("m", Types.STRING(), PERSON)
    after = MapStateDescriptor("m", Types.STRING(), row_type(visits=Types.LONG()))
    held = taken_over(before, "put_all", {"a": ANN}, after.with_migration(renamed={"hits": "visits"}))
    assert held == {"a": Row(visits=3)}


def test_keys_of_a_map_do_not_evolve() -> None:
    snapshot = written((MapStateDescriptor("m", Types.INT(), Types.INT()), "put", 1, 1))
    with pytest.raises(StateMigrationError, match="INT cannot become STRING"):
        restored(snapshot, MapStateDescriptor("m", Types.STRING(), Types.INT()))
    with pytest.raises(StateMigrationError, match="map keys stay as they are, and INT cannot become DOUBLE"):
        restored(snapshot, MapStateDescriptor("m", Types.DOUBLE(), Types.INT()))


class Sum(AggregateFunction):
    def create_accumulator(self) -> Any:
        return Row(total=0)

    def add(self, value: Any, accumulator: Any) -> Any:
        return Row(total=accumulator.total + value)

    def get_result(self, accumulator: Any) -> Any:
        return accumulator

    def merge(self, a: Any, b: Any) -> Any:
        return Row(total=a.total + b.total)


def test_accumulators_evolve() -> None:
    before = AggregatingStateDescriptor("sum", Sum(), row_type(total=Types.LONG()))
    after = AggregatingStateDescriptor("sum", Sum(), row_type(total=Types.DOUBLE(), count=Types.LONG()))
    held = taken_over(before, "add", 4, after.with_migration(defaults={"count": 1}))
    assert held == Row(total=4.0, count=1)


def test_reduced_values_evolve() -> None:
    before = ReducingStateDescriptor("max", max, Types.INT())
    assert taken_over(before, "add", 4, ReducingStateDescriptor("max", max, Types.DOUBLE())) == 4.0


# ---------------------------------------------------------------- conversion by a function


def test_a_function_converts_what_types_do_not() -> None:
    assert taken_over(value_of(Types.STRING()), "update", "12", value_of(Types.LONG(), convert=int)) == 12


def test_a_function_is_given_the_old_row() -> None:
    after = value_of(row_type(text=Types.STRING()), convert=lambda old: Row(text=f"{old.name} {old.hits}"))
    assert taken_over(value_of(PERSON), "update", ANN, after) == Row(text="ann 3")


def test_values_for_which_a_function_returns_none_are_left_out() -> None:
    after = ListStateDescriptor("l", Types.INT())
    after.with_migration(convert=lambda old: int(old) if old.isdigit() else None)
    assert taken_over(ListStateDescriptor("l", Types.STRING()), "add_all", ["1", "x", "2"], after) == [1, 2]


def test_what_a_function_returns_must_be_of_the_declared_type() -> None:
    snapshot = written((value_of(Types.STRING()), "update", "12"))
    with pytest.raises(StateMigrationError, match="state 'profile': declared type Long does not accept '12'"):
        restored(snapshot, value_of(Types.LONG(), convert=lambda old: old))


def test_a_function_that_fails_names_key_and_state() -> None:
    snapshot = written((value_of(Types.STRING()), "update", "twelve"))
    with pytest.raises(StateMigrationError, match="key 'k': state 'profile' cannot be converted: ValueError: invalid"):
        restored(snapshot, value_of(Types.LONG(), convert=int))


def test_undeclared_values_are_converted_once_per_version() -> None:
    first = ValueStateDescriptor("n").with_migration(convert=lambda old: old + "!", version=1)
    with restored(written((ValueStateDescriptor("n"), "update", "a")), first) as harness:
        assert harness.state(first, KEY) == "a!"
        snapshot = harness.snapshot()
    with restored(snapshot, first) as harness:
        assert harness.state(first, KEY) == "a!"
    second = ValueStateDescriptor("n").with_migration(convert=lambda old: old + "?", version=2)
    with restored(snapshot, second) as harness:
        assert harness.state(second, KEY) == "a!?"


def test_migrations_are_checked_when_they_are_declared() -> None:
    with pytest.raises(ArgumentError, match="declare Types.ROW_NAMED"):
        ValueStateDescriptor("n", Types.LONG()).with_migration(renamed={"a": "b"})
    with pytest.raises(ArgumentError, match="two fields for one"):
        value_of(PERSON, renamed={"a": "hits", "b": "hits"})
    with pytest.raises(ArgumentError, match="version"):
        value_of(PERSON, version=1)
    with pytest.raises(ArgumentTypeError, match="convert must be a function"):
        value_of(PERSON, convert=3)


# ---------------------------------------------------------------- time to live


def living(descriptor: Any, milliseconds: int) -> Any:
    descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.milliseconds(milliseconds)).build())
    return descriptor


KINDS = [
    pytest.param(lambda: ValueStateDescriptor("s", Types.INT()), "update", (1,), 1, None, id="value"),
    pytest.param(lambda: ListStateDescriptor("s", Types.INT()), "add", (1,), [1], [], id="list"),
    pytest.param(lambda: MapStateDescriptor("s", Types.STRING(), Types.INT()), "put", ("a", 1), {"a": 1}, {}, id="map"),
    pytest.param(lambda: ReducingStateDescriptor("s", max, Types.INT()), "add", (1,), 1, None, id="reducing"),
]


@pytest.mark.parametrize(("descriptor", "method", "arguments", "held", "empty"), KINDS)
def test_state_that_gets_a_time_to_live_begins_to_live_at_the_restore(
    descriptor: Any, method: str, arguments: Any, held: Any, empty: Any
) -> None:
    snapshot, after = written((descriptor(), method, *arguments), processing_time=1000), living(descriptor(), 100)
    with restored(snapshot, after) as harness:
        harness.advance_processing_time(1099)
        assert harness.state(after, KEY) == held
        harness.advance_processing_time(1100)
        assert harness.state(after, KEY) == empty


@pytest.mark.parametrize(("descriptor", "method", "arguments", "held", "empty"), KINDS)
def test_state_that_loses_its_time_to_live_stays(
    descriptor: Any, method: str, arguments: Any, held: Any, empty: Any
) -> None:
    snapshot, after = written((living(descriptor(), 100), method, *arguments), processing_time=1000), descriptor()
    with restored(snapshot, after) as harness:
        harness.advance_processing_time(9999)
        assert harness.state(after, KEY) == held


def test_another_time_to_live_holds_from_the_last_access_before_the_restore() -> None:
    snapshot = written((living(value_of(Types.INT()), 100), "update", 1), processing_time=1000)
    after = living(value_of(Types.INT()), 300)
    with restored(snapshot, after) as harness:
        harness.advance_processing_time(1299)
        assert harness.state(after, KEY) == 1
        harness.advance_processing_time(1300)
        assert harness.state(after, KEY) is None


def test_values_with_a_time_to_live_evolve_and_keep_their_age() -> None:
    snapshot = written((living(value_of(PERSON), 100), "update", ANN), processing_time=1000)
    after = living(value_of(row_type(hits=Types.DOUBLE())), 100)
    with restored(snapshot, after) as harness:
        assert harness.state(after, KEY) == Row(hits=3.0)
        harness.advance_processing_time(1100)
        assert harness.state(after, KEY) is None


# ---------------------------------------------------------------- states added and removed


def test_an_added_state_starts_empty() -> None:
    snapshot, added = written((value_of(PERSON), "update", ANN)), ValueStateDescriptor("added")
    with restored(snapshot, value_of(PERSON), added) as harness:
        assert harness.state(added, KEY) is None
        assert harness.state(value_of(PERSON), KEY) == ANN


def test_a_removed_state_is_dropped_with_a_note() -> None:
    gone, stays = ValueStateDescriptor("gone"), ValueStateDescriptor("stays")
    with restored(written((gone, "update", 1), (stays, "update", 2)), stays) as harness:
        assert harness.num_keyed_state_entries() == 1
        assert harness.notes() == [
            "state 'gone' of operator 'Keep' (uid 'keep') was dropped: the program no longer registers it"
        ]
        assert "gone" not in harness.snapshot().schemas["keep"]


def test_fields_that_go_and_come_undeclared_are_noted() -> None:
    after = value_of(row_type(visits=Types.INT(), level=Types.STRING()))
    with restored(written((value_of(row_type(hits=Types.INT())), "update", Row(hits=1))), after) as harness:
        assert harness.notes() == [
            f"state {after.get_name()!r} of operator 'Keep' (uid 'keep'): fields hits dropped; visits, level added as "
            "None; if one was renamed, declare it: with_migration(renamed={...})"
        ]


def test_declared_renames_and_defaults_are_not_noted() -> None:
    after = value_of(row_type(visits=Types.INT(), level=Types.INT()), renamed={"hits": "visits"}, defaults={"level": 1})
    with restored(written((value_of(row_type(hits=Types.INT())), "update", Row(hits=1))), after) as harness:
        assert harness.notes() == []


def test_state_registered_after_open_is_kept_until_it_is_asked_for() -> None:
    lazy = ValueStateDescriptor("lazy", Types.INT())
    with restored(written((lazy, "update", 1), lazily=True), lazy, lazily=True) as harness:
        assert harness.notes() == []
        harness.process((KEY, "lazy", "value", ()))
        assert harness.state(lazy, KEY) == 1


def test_state_registered_after_open_must_not_have_changed() -> None:
    lazy = ValueStateDescriptor("lazy", Types.INT())
    changed = ValueStateDescriptor("lazy", Types.DOUBLE())
    with restored(written((lazy, "update", 1), lazily=True), changed, lazily=True) as harness:
        with pytest.raises(OperatorError, match=r"restored as value of type INT and is now.*DOUBLE; register it in"):
            harness.process((KEY, "lazy", "value", ()))
    with restored(written((lazy, "update", 1), lazily=True), changed) as harness:
        assert harness.state(changed, KEY) == 1.0


def test_state_no_longer_registered_in_open_is_not_lost_silently() -> None:
    state = ValueStateDescriptor("state", Types.INT())
    with restored(written((state, "update", 1)), state, lazily=True) as harness:
        with pytest.raises(OperatorError, match="was left out at the restore"):
            harness.process((KEY, "state", "value", ()))


# ---------------------------------------------------------------- what operators keep by themselves

EVENT = row_type(key=Types.STRING(), n=Types.INT())
LATER_EVENT = row_type(key=Types.STRING(), n=Types.LONG(), unit=Types.STRING())


def by_key(stream: Any) -> Any:
    return stream.key_by(lambda row: row.key)


def added_up(a: Row, b: Row) -> Row:
    return Row(**{**a.as_dict(), "n": a.n + b.n})


def restoring(build: Any, declared: Any, snapshot: Any) -> TestHarness:
    return TestHarness.of(build, input_types=[declared], snapshot=snapshot)


def going_on(build: Any, inputs: int = 1) -> list[Any]:
    """Feeds an event, restores with a later type of events, feeds another and ends."""
    with TestHarness.of(build, input_types=[EVENT] * inputs) as harness:
        harness.process(Row(key="a", n=1), 5)
        snapshot = harness.snapshot()
    with TestHarness.of(build, input_types=[LATER_EVENT] * inputs, snapshot=snapshot) as harness:
        harness.process(Row(key="a", n=2, unit="m"), 6, input=inputs)
        harness.end_input()
        return harness.outputs()


class Elements(ProcessWindowFunction):
    def process(self, key: str, context: Any, elements: Any) -> Any:
        yield sorted(elements, key=lambda row: row.n)


BOTH = [Row(key="a", n=1, unit=None), Row(key="a", n=2, unit="m")]
TEN = TumblingEventTimeWindows.of(Time.milliseconds(10))


def test_a_rolling_reduce_goes_on_with_rows_of_the_new_type() -> None:
    (result,) = going_on(lambda s: by_key(s).reduce(added_up).uid("r"))
    assert result == Row(key="a", n=3, unit=None)


@pytest.mark.parametrize(
    "windows",
    [
        pytest.param(lambda s: by_key(s).window(TEN), id="tumbling"),
        pytest.param(lambda s: by_key(s).window(TEN).allowed_lateness(5), id="with lateness"),
        pytest.param(lambda s: by_key(s).window(EventTimeSessionWindows.with_gap(Time.milliseconds(9))), id="sessions"),
        pytest.param(
            lambda s: by_key(s).window(EventTimeSessionWindows.with_gap(Time.milliseconds(9))).allowed_lateness(5),
            id="sessions with lateness",
        ),
    ],
)
def test_windows_in_flight_go_on_with_rows_of_the_new_type(windows: Any) -> None:
    assert going_on(lambda s: windows(s).process(Elements()).uid("w"))[-1] == BOTH
    assert going_on(lambda s: windows(s).reduce(added_up).uid("w"))[-1] == Row(key="a", n=3, unit=None)


def test_accumulators_of_windows_in_flight_evolve() -> None:
    def sums(accumulator: Any) -> Any:
        return lambda s: s.key_by(lambda v: v % 2).window(TEN).aggregate(Sum(), accumulator_type=accumulator).uid("w")

    with TestHarness.of(sums(row_type(total=Types.INT()))) as harness:
        harness.process(1, 5)
        snapshot = harness.snapshot()
    with TestHarness.of(sums(row_type(total=Types.DOUBLE(), unit=Types.STRING())), snapshot=snapshot) as harness:
        harness.end_input()
        assert harness.outputs() == [Row(total=1.0, unit=None)]


def test_joins_go_on_with_rows_of_the_new_type() -> None:
    class Join(ProcessJoinFunction):
        def process_element(self, left: Any, right: Any, ctx: Any) -> Any:
            yield [left, right]

    interval = going_on(
        lambda a, b: by_key(a).interval_join(by_key(b)).between(Time.milliseconds(-5), Time.milliseconds(5))
        .process(Join()).uid("j"), 2,
    )  # fmt: skip
    window = going_on(
        lambda a, b: a.join(b).where(lambda r: r.key).equal_to(lambda r: r.key).window(TEN)
        .apply(lambda left, right: [left, right]).uid("j"), 2,
    )  # fmt: skip
    assert interval == window == [BOTH]


def test_another_operator_of_the_uid_is_refused() -> None:
    with TestHarness.of(lambda s: by_key(s).reduce(added_up).uid("u"), input_types=[EVENT]) as harness:
        harness.process(Row(key="a", n=1), 5)
        snapshot = harness.snapshot()
    with pytest.raises(StateMigrationError, match="has kept reduce of type ROW.*no longer keeps\n.*another uid"):
        restoring(lambda s: by_key(s).window(TEN).reduce(added_up).uid("u"), EVENT, snapshot)


def test_other_windows_are_refused_while_some_are_in_flight() -> None:
    with TestHarness.of(lambda s: by_key(s).window(TEN).reduce(added_up).uid("u"), input_types=[EVENT]) as harness:
        harness.process(Row(key="a", n=1), 5)
        snapshot = harness.snapshot()
    longer = TumblingEventTimeWindows.of(Time.milliseconds(20))
    with pytest.raises(StateMigrationError, match=r"windows of 10 ms \(reduce\) cannot become windows of 20 ms"):
        restoring(lambda s: by_key(s).window(longer).reduce(added_up).uid("u"), EVENT, snapshot)


def test_other_types_of_windows_contents_are_refused() -> None:
    def build(s: Any) -> Any:
        return by_key(s).window(TEN).reduce(added_up).uid("u")

    with TestHarness.of(build, input_types=[EVENT]) as harness:
        harness.process(Row(key="a", n=1), 5)
        snapshot = harness.snapshot()
    with pytest.raises(StateMigrationError, match="field 'n': INT cannot become STRING"):
        restoring(build, row_type(key=Types.STRING(), n=Types.STRING()), snapshot)


def test_other_keys_are_refused() -> None:
    def build(declared: Any) -> Any:
        return lambda s: s.key_by(lambda v: v, declared).reduce(max).uid("u")

    with TestHarness.of(build(Types.INT())) as harness:
        harness.process(1, 5)
        snapshot = harness.snapshot()
    with TestHarness.of(build(Types.LONG()), snapshot=snapshot) as harness:
        assert harness.num_keyed_state_entries() == 1
    with pytest.raises(StateMigrationError, match="the keys of operator.*INT cannot become STRING"):
        TestHarness.of(build(Types.STRING()), snapshot=snapshot)
    with pytest.raises(StateMigrationError, match="keys stay as they are"):
        TestHarness.of(build(Types.DOUBLE()), snapshot=snapshot)
