"""What was emitted stays as it was, whatever becomes of the object: Flink serialises or copies it at each hand-over."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from scurry.common import Types
from scurry.datastream import DataStream, StreamExecutionEnvironment
from support.changing_objects import KINDS, OPERATORS, add, growing, numbers, one_key, shown
from support.runners import Runner

LOCAL = [pytest.param(Runner("local", mode), id=mode) for mode in ("STREAMING", "BATCH")]
SPARK = [pytest.param(Runner("spark", mode), id=mode, marks=pytest.mark.spark) for mode in ("STREAMING", "BATCH")]
PLAIN = Types.PICKLED_BYTE_ARRAY()


def spoiled(value: Any) -> tuple[str, list[int]]:
    """Return what is shown of a value, which is changed."""
    before = shown(value)
    if type(value).__name__ != "ndarray":
        add(value, 99)
    else:
        value[:] = 99
    return before


def consumed(name: str, stream: DataStream) -> dict[str, DataStream]:
    """Return what consumers see: some change records, others must not see it."""
    return {
        f"{name}, changing": stream.map(spoiled, output_type=PLAIN),
        f"{name}, by key": stream.key_by(one_key).map(shown, output_type=PLAIN),
        f"{name}, filtered": stream.filter(lambda value: bool(spoiled(value))).map(lambda value: 1, output_type=PLAIN),
        f"{name}, after": stream.map(shown, output_type=PLAIN),
    }


def program(operators: list[str], kinds: list[str], env: StreamExecutionEnvironment) -> dict[str, DataStream]:
    streams: dict[str, DataStream] = {}
    for each in operators:
        for kind in kinds:
            make, declared = KINDS[kind]
            stream = OPERATORS[each](env, make, declared)
            streams |= consumed(f"{each} of {kind}", stream)
            streams[f"{each} of {kind}, alone"] = OPERATORS[each](env, make, declared).map(shown, output_type=PLAIN)
    return streams


def expected(name: str) -> list[Any]:
    if name.endswith("filtered"):
        return [1, 1, 1]
    make, _ = KINDS[name.partition(" of ")[2].partition(",")[0]]
    return [shown(value) for value in growing(make)]


@pytest.mark.parametrize("runner", LOCAL)
@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_may_change_what_it_has_emitted(name: str, runner: Runner) -> None:
    found = runner.run(partial(program, [name], ["dict", "declared row", "tuple"]))
    assert found == {each: expected(each) for each in found}


@pytest.mark.parametrize("runner", LOCAL)
@pytest.mark.parametrize("kind", KINDS)
def test_objects_of_every_kind_are_copied(kind: str, runner: Runner) -> None:
    found = runner.run(partial(program, ["flat_map", "process", "state"], [kind]))
    assert found == {each: expected(each) for each in found}


@pytest.mark.nightly
@pytest.mark.parametrize("runner", LOCAL)
@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_with_every_kind(name: str, runner: Runner) -> None:
    found = runner.run(partial(program, [name], list(KINDS)))
    assert found == {each: expected(each) for each in found}


@pytest.mark.parametrize("runner", SPARK)
def test_on_spark_too(runner: Runner) -> None:
    found = runner.run(partial(program, ["flat_map", "side_output", "state", "timers"], ["dict", "declared row"]))
    assert found == {each: expected(each) for each in found}


@pytest.mark.parametrize("runner", LOCAL)
@pytest.mark.parametrize("kind", KINDS)
def test_a_union_of_a_stream_with_itself_has_each_record_twice(kind: str, runner: Runner) -> None:
    make, declared = KINDS[kind]

    def twice(env: StreamExecutionEnvironment) -> dict[str, DataStream]:
        stream = numbers(env, 0).map(lambda number: add(make(), number), output_type=declared)
        return {"union": stream.union(stream).map(spoiled, output_type=PLAIN)}

    assert runner.run(twice) == {"union": [shown(add(make(), 0))] * 2}


@pytest.mark.parametrize("runner", LOCAL)
def test_elements_of_a_collection_have_no_parts_in_common(runner: Runner) -> None:
    part: list[int] = []

    def collection(env: StreamExecutionEnvironment) -> dict[str, DataStream]:
        elements = env.from_collection([part, part, {"a": part}, {"a": part}])
        return {"changed": elements.map(lambda each: add(each["a"] if type(each) is dict else each, 0))}

    assert runner.run(collection) == {"changed": [[0], [0], [0], [0]]}


@pytest.mark.parametrize("runner", LOCAL)
def test_the_elements_of_a_block_are_those_that_were_sent(runner: Runner) -> None:
    """A keyed operator changes its records, and another one has the same."""

    def keyed(env: StreamExecutionEnvironment) -> dict[str, DataStream]:
        stream = numbers(env, 1, 2).map(lambda number: [number])
        by_key = stream.key_by(one_key)
        return {
            "changed": by_key.map(spoiled, output_type=PLAIN),
            "sums": by_key.reduce(lambda one, other: one + other).map(lambda values: values, output_type=PLAIN),
        }

    sums = [[1], [1, 2]] if runner.mode == "STREAMING" else [[1, 2]]
    assert runner.run(keyed) == {"changed": [("list", [1]), ("list", [2])], "sums": sums}
