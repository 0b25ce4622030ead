"""Maps that make a tuple of fields are recognized by their code; they need not be called, and give the same."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import cloudpickle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scurry.common import Configuration, Row, Types
from scurry.datastream import MapFunction, StreamExecutionEnvironment
from scurry.errors import JobError
from scurry.runtime.functions.fields import PickedFields, tuple_of_fields
from support.cases import cases

FIRST_TWO = range(2)
CHANGING = [0, 1]
RECORD = ("a", 1, 2.5)


def of_variable(fields: Any) -> Callable[[Any], Any]:
    return lambda record: tuple(record[each] for each in fields)


def with_another_tuple() -> Callable[[Any], Any]:
    """Return a map that calls what its module calls `tuple`."""
    names: dict[str, Any] = {"tuple": list, "fields": (0, 1)}
    exec("def pick(record): return tuple(record[each] for each in fields)", names)
    return names["pick"]  # type: ignore[no-any-return]


class Pick(MapFunction):
    def map(self, value: Any) -> Any:
        return value[2], value[0]

    def both(self, value: Any) -> Any:
        return tuple(value[each] for each in FIRST_TWO)


PICKING: list[Callable[[Any], Any]] = [
    lambda record: (record[0], record[2]),
    lambda record: (record[1],),
    lambda record: (record[-1], record[-1], record[0]),
    lambda record: (record[0], record[1], record[2]),
    lambda record: tuple(record[each] for each in FIRST_TWO),
    of_variable((2, 0)),
    of_variable(range(3)),
    of_variable(()),
    Pick().map,
    Pick().both,
]
NAMED: list[Callable[[Any], Any]] = [
    lambda record: (record["c"], record["a"]),
    lambda record: (record["b"], record[0]),
    lambda record: (record["b"],),
    of_variable(("a", "b", "c")),
]


@pytest.mark.parametrize("function", PICKING)
def test_a_map_that_picks_fields(function: Callable[[Any], Any]) -> None:
    for each in (function, pickle.loads(cloudpickle.dumps(function))):
        picks = tuple_of_fields(each)
        assert picks is not None
        for records in ([RECORD, ("b", 2, 0.5)], [Row(*RECORD)], [Row(a="a", b=1, c=2.5)]):
            assert picks(records) == list(map(function, records))


@pytest.mark.parametrize("function", NAMED)
def test_a_map_that_picks_fields_by_name(function: Callable[[Any], Any]) -> None:
    picks, rows = tuple_of_fields(function), [Row(a="a", b=1, c=2.5), Row(a="b", b=2, c=0.5)]
    assert picks is not None and picks(rows) == list(map(function, rows))
    for others in ([RECORD], [Row(*RECORD)], [*rows, Row(c=1, b=2, a=3)], [Row(a=1)]):
        assert picks(others) is None


@pytest.mark.parametrize(
    "function",
    [
        lambda record: record[0],
        lambda record: [record[0], record[1]],
        lambda record: (record[0], record[1] + 1),
        lambda record: (record[0], 1),
        lambda record: (record.a, record.b),
        lambda record: (record[b"a"],),
        lambda record: (record[True],),
        lambda record: (RECORD[0], RECORD[1]),
        lambda record: (record[0][1], record[1]),
        lambda record, other=RECORD: (other[0], record[1]),
        lambda *record: (record[0],),
        lambda record: tuple(record[each] for each in FIRST_TWO if each),
        lambda record: tuple(record[each] + 1 for each in FIRST_TWO),
        lambda record: tuple(FIRST_TWO[each] for each in record),
        with_another_tuple(),
        Pick.map,
        Pick(),
        len,
    ],
)
def test_a_map_that_does_anything_else(function: Any) -> None:
    assert tuple_of_fields(function) is None


@pytest.mark.parametrize("fields", [CHANGING, "ab", (0, True), (0, 1.0), (0, "a"), range(1000), None])
def test_fields_that_records_lack_or_that_may_change_are_asked_for(fields: Any) -> None:
    picks = tuple_of_fields(of_variable(fields))
    assert picks is not None and picks([RECORD]) is None


def test_a_variable_that_changes_is_looked_up_for_each_block() -> None:
    fields: tuple[int, ...] = (0,)

    def pick(record: Any) -> Any:
        return tuple(record[each] for each in fields)

    picks = tuple_of_fields(pick)
    assert picks is not None and picks([RECORD]) == [("a",)]
    fields = (1, 0)
    assert picks([RECORD]) == [(1, "a")]


@given(
    st.lists(st.tuples(*[st.integers()] * 2) | st.tuples(*[st.integers()] * 3), min_size=1, max_size=5),
    st.lists(st.integers(-4, 3), max_size=4).map(tuple),
    st.sampled_from([tuple, lambda each: Row(*each), list]),
)
@settings(max_examples=cases(200), deadline=None)
def test_picked_fields_are_those_that_calls_return(
    records: list[tuple[int, ...]], fields: tuple[int, ...], kind: Callable[[Any], Any]
) -> None:
    made, function = list(map(kind, records)), of_variable(fields)
    picked = PickedFields(lambda: fields)(made)
    try:
        expected = list(map(function, made))
    except IndexError:
        assert picked is None
    else:
        assert picked == (None if kind is list else expected)


def run(records: list[Any], function: Callable[[Any], Any], declared: Any = None) -> list[Any]:
    configuration = Configuration.from_dict({"scurry.runner": "local"})
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    return list(env.from_collection(records).map(function, declared).execute_and_collect())


def test_a_record_without_the_field_is_an_error_of_the_function() -> None:
    with pytest.raises(JobError, match="tuple index out of range") as caught:
        run([("a", 1), ("b",)], lambda record: (record[1], record[0]))
    assert "('b',)" in str(caught.value) and "test_picked_fields.py" in str(caught.value)


def test_fields_are_checked_against_the_declared_type() -> None:
    declared = Types.TUPLE([Types.LONG(), Types.STRING()])
    assert run([Row("a", 1)], lambda record: (record[1], record[0]), declared) == [(1, "a")]
    with pytest.raises(JobError, match="Map"):
        run([Row("a", 1)], lambda record: (record[0], record[1]), declared)


def test_a_list_in_a_picked_field_is_copied() -> None:
    """Who changes it changes no other's."""

    def change(pair: Any) -> Any:
        pair[0].append(3)
        return pair

    configuration = Configuration.from_dict({"scurry.runner": "local"})
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    picked = env.from_collection([([1], 2)]).map(lambda record: (record[0], record[1]))
    changed = picked.rebalance().map(change)
    assert sorted(changed.union(picked.rebalance().map(lambda pair: pair)).execute_and_collect()) == [
        ([1], 2),
        ([1, 3], 2),
    ]
