from __future__ import annotations

import dataclasses
import datetime
import decimal
import os
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import scurry
from scurry.common import Row, RowKind
from scurry.errors import KeyTypeError
from scurry.runtime.keys import (
    canonical_keys,
    decode_key,
    encode_key,
    from_sortable,
    groups_of,
    key_hash,
    key_hashes,
    original_key,
    row_keys,
    sortable,
    subtask_of,
)

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | st.dates()
    | st.datetimes()
    | st.decimals(allow_nan=False)
)
HASHABLE = st.recursive(
    SCALARS, lambda keys: st.lists(keys, max_size=3).map(tuple) | st.frozensets(keys, max_size=3), max_leaves=6
)
KEYS = HASHABLE | st.lists(HASHABLE, max_size=3) | st.dictionaries(HASHABLE, HASHABLE, max_size=3)


class Pair(NamedTuple):
    left: str
    right: str


@dataclasses.dataclass(frozen=True)
class Place:
    country: str
    city: str


def same(left: Any, right: Any) -> bool:
    """Same type and value, all the way down."""
    if type(left) is not type(right):
        return False
    if isinstance(left, tuple | list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict | frozenset):
        return encode_key(left) == encode_key(right)
    return repr(left) == repr(right)  # 0.0 and -0.0, Decimal 1.0 and 1.00 are different keys, as in Java


@given(KEYS)
def test_decoding_returns_the_key(key: Any) -> None:
    assert same(decode_key(encode_key(key)), key)


@given(HASHABLE, HASHABLE)
def test_keys_are_equal_exactly_if_type_and_value_are(left: Any, right: Any) -> None:
    assert (encode_key(left) == encode_key(right)) == same(left, right)


def test_what_python_confuses_is_kept_apart() -> None:
    lookalikes = [1, True, 1.0, decimal.Decimal(1), "1", b"1", (1,), [1], (True,), (1.0,), frozenset([1])]
    assert len({encode_key(key) for key in lookalikes}) == len(lookalikes)
    assert len(set(canonical_keys(lookalikes))) == len(lookalikes)


@given(st.lists(KEYS, max_size=5))
def test_canonical_keys_are_hashable_and_lead_back(keys: list[Any]) -> None:
    canonical = canonical_keys(keys)
    assert all(type(key) in (str, int, bytes) for key in canonical)
    assert all(same(original_key(form), key) for form, key in zip(canonical, keys, strict=True))


@given(st.lists(st.tuples(KEYS, st.integers()), max_size=5))
def test_rows_of_several_columns_are_keys_as_tuples(rows: list[Any]) -> None:
    columns = [list(column) for column in zip(*rows, strict=True)]
    assert row_keys(columns or [[], []]) == canonical_keys(rows)


@given(st.lists(KEYS, max_size=5) | st.lists(st.integers(), max_size=5) | st.lists(st.tuples(KEYS), max_size=5))
def test_many_keys_are_hashed_as_one(keys: list[Any]) -> None:
    canonical = canonical_keys(keys) * 200
    assert key_hashes(canonical) == list(map(key_hash, canonical))


def test_plain_keys_stand_for_themselves_without_a_copy() -> None:
    keys = ["a", 1, "b"]
    assert canonical_keys(keys) is keys


@given(KEYS)
def test_sorters_get_bytes(key: Any) -> None:
    (form,) = canonical_keys([key])
    assert type(sortable(form)) is bytes
    assert from_sortable(sortable(form)) == form


def test_the_order_of_a_dict_or_set_does_not_matter() -> None:
    assert encode_key({"a": 1, "b": 2}) == encode_key({"b": 2, "a": 1})
    assert encode_key(frozenset("abcdef")) == encode_key(frozenset("fedcba"))


@pytest.mark.parametrize("make", [Pair, Place])
def test_shared_and_copied_fields_make_the_same_key(make: Any) -> None:
    one, copy = "".join(["a", "b"]), "".join(["a", "b"])
    assert encode_key(make(one, one)) == encode_key(make(one, copy))
    assert decode_key(encode_key(make(one, copy))) == make("ab", "ab")


@pytest.mark.parametrize(
    "row",
    [Row(1, "a"), Row(name="x", n=None), Row.of_kind(RowKind.DELETE, 1, Row(2))],
    ids=["positions", "names", "kind and nesting"],
)
def test_rows_keep_names_and_kind(row: Row) -> None:
    back = decode_key(encode_key(row))
    assert (back, back.get_row_kind(), str(back)) == (row, row.get_row_kind(), str(row))


def test_a_nan_is_one_key() -> None:
    assert encode_key(float("nan")) == encode_key(float("inf") - float("inf"))


def test_a_key_that_cannot_be_pickled_says_what_to_return_instead() -> None:
    class Local:
        pass

    with pytest.raises(KeyTypeError, match=r"a Local cannot be a key: .*; let the key selector return"):
        canonical_keys([Local()])


#: Written down once: a hash that changed would move every key of every checkpoint to another group.
KNOWN_HASHES = [
    ("", 0x00000000),
    ("flink", 0x355BB5A7),
    ("ü", 0xACF6BD83),
    (0, 0x3AB9642E),
    (-1, 0x412F3F9F),
    (2**70, 0xBBB06EF7),
    (True, 0xF32F9A7E),
    (1.5, 0x38BD9646),
    (None, 0x317E7C0B),
    (("a", 1), 0x71E3146B),
    (datetime.date(2026, 1, 2), 0x29DEC7BF),
]


@pytest.mark.parametrize(("key", "expected"), KNOWN_HASHES, ids=repr)
def test_hashes_never_change(key: Any, expected: int) -> None:
    assert key_hash(canonical_keys([key])[0]) == expected


@pytest.mark.parametrize("parallelism", [2, 3, 4])
def test_keys_that_differ_little_are_spread_over_all_subtasks(parallelism: int) -> None:
    for keys in (range(20), [f"user-{n}" for n in range(20)]):
        found = [subtask_of(key_hash(key), 128, parallelism) for key in keys]
        assert min(map(found.count, range(parallelism))) >= 20 // parallelism // 3


def test_hashes_are_the_same_in_every_process() -> None:
    keys = ["a", 7, ("a", None), frozenset("xyz"), {"k": "v"}, uuid.UUID(int=5), datetime.datetime(2026, 1, 2)]
    code = (
        "import datetime\nfrom uuid import UUID\nfrom scurry.runtime.keys import canonical_keys, key_hash\n"
        f"print([key_hash(key) for key in canonical_keys({keys!r})])"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(scurry.__file__).parents[1]), "PYTHONHASHSEED": "17"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.strip() == repr([key_hash(key) for key in canonical_keys(keys)])


@given(st.integers(1, 200), st.integers(1, 40))
def test_every_key_group_belongs_to_the_subtask_that_gets_its_keys(max_parallelism: int, parallelism: int) -> None:
    groups = [group for subtask in range(parallelism) for group in groups_of(subtask, max_parallelism, parallelism)]
    assert groups == list(range(max_parallelism))
    for subtask in range(parallelism):
        for group in groups_of(subtask, max_parallelism, parallelism):
            assert subtask_of(group, max_parallelism, parallelism) == subtask
