"""Bitmaps: equal sets are equal bytes, whatever they were made of; damaged bytes are errors."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from pyroaring import BitMap

from scurry.errors import EvaluationError
from scurry.sql.functions.aggregate.bitmaps import Bitmaps, _by, _with_number
from scurry.sql.functions.bitmaps import bits_of, packed, unpacked
from scurry.sql.functions.scalar.bitmap import build, from_bytes, to_array


def test_numbers_are_kept_by_their_bits_without_sign() -> None:
    assert to_array(build([3, -1, None, 0, 3])) == [0, 3, -1]


#: {1, 2, 70000} by the specification of the format: a head, two keys with their counts, two offsets, two lists.
SPECIFIED = "3a30000002000000000001000100000018000000" + "1c000000" + "01000200" + "7011"


def test_the_bytes_are_those_of_the_portable_format() -> None:
    assert build([70_000, 2, 1]).hex() == SPECIFIED


@pytest.mark.parametrize("numbers", [range(10), range(100_000), range(0, 200_000, 7), range(0)], ids=str)
def test_equal_sets_are_equal_bytes_with_runs_or_without(numbers: range) -> None:
    with_runs = BitMap(numbers)
    with_runs.run_optimize()
    assert from_bytes(with_runs.serialize()) == build(list(numbers))
    assert packed(unpacked(build(list(numbers[:5]))) | unpacked(with_runs.serialize())) == build(list(numbers))


def test_damaged_bytes_are_errors() -> None:
    chance = random.Random(7)
    for _ in range(1000):
        whole = bytearray(build([chance.randrange(70_000) for _ in range(chance.choice([0, 1, 30, 5000]))]))
        for _ in range(chance.choice([0, 1, 3])):
            whole[chance.randrange(min(len(whole), 50))] = chance.randrange(256)
        try:
            assert set(to_array(from_bytes(bytes(whole[: chance.randrange(len(whole) + 1)])))) is not None
        except EvaluationError as error:
            assert str(error) == "Failed to deserialize bitmap from bytes."


def test_aggregates_of_parts_are_those_of_the_whole() -> None:
    numbers = Bitmaps(_with_number, _by(lambda one, other: one | other), counts=False)
    groups = pa.array([0, 1, 0, 1]).to_numpy()
    (first,) = numbers.partial([pa.array([1, 2, -3, None])], groups, 3)
    (second,) = numbers.partial([pa.array([4, None, 1, None])], groups, 3)
    both = pa.concat_arrays([first, second])
    (merged,) = numbers.merge([both], pa.array([0, 1, 2, 0, 1, 2]).to_numpy(), 3)
    assert merged.to_pylist() == [packed(bits_of([1, -3, 4])), packed(bits_of([2])), None]
