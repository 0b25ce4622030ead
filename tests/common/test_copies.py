"""Copies of records."""

from __future__ import annotations

import collections
import datetime
import decimal
import threading
import uuid
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest

from scurry.common import Row
from scurry.common._copies import IMMUTABLE, copies_of, copy_of, kept_flat_row
from scurry.common.types import RowKind


class Color(Enum):
    RED = 1


class Point(NamedTuple):
    x: int
    y: Any


@dataclass
class Order:
    items: list[int] = field(default_factory=list)


class Slotted:
    __slots__ = ("items",)

    def __init__(self, items: list[int]) -> None:
        self.items = items


class Own:
    """Says itself how it is copied."""

    def __deepcopy__(self, memo: Any) -> str:
        return "copied"


IMMUTABLE_VALUES = [
    None, True, 1, 1.5, 1j, "a", b"a", decimal.Decimal(1), uuid.UUID(int=1), datetime.date(2020, 1, 1),
    datetime.datetime(2020, 1, 1), datetime.timedelta(1), range(3), (1, "a"), (1, ("a", None)), frozenset({1}),
    Point(1, 2), Color.RED, RowKind.DELETE, np.int64(1), len, Order, pa.array([1]), (),
]  # fmt: skip


@pytest.mark.parametrize("value", IMMUTABLE_VALUES, ids=repr)
def test_an_immutable_value_is_not_copied(value: Any) -> None:
    assert copy_of(value) is value


def test_immutable_records_keep_their_block() -> None:
    block = ["a", 1, None]
    assert copies_of(block) is block


def test_types_with_subclasses_that_have_attributes_are_known_by_themselves() -> None:
    class Text(str):
        pass

    value = Text("a")
    value.notes = [1]  # type: ignore[attr-defined]
    assert Text not in IMMUTABLE
    assert copy_of(value).notes is not value.notes  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "value",
    [
        [1], {"a": 1}, {1}, bytearray(b"a"), [[1]], {"a": [1]}, (1, [2]), ((1, [2]),), Row(1, "a"), Row(a=[1]),
        Row.of_kind(RowKind.DELETE, 1), collections.deque([1]), collections.OrderedDict(a=1),
        collections.defaultdict(list, {"a": [1]}), Point(1, [2]), Order([1]), {"a": Order([1])}, [Row([1])],
    ],
    ids=repr,
)  # fmt: skip
def test_a_copy_is_equal_and_of_the_same_class(value: Any) -> None:
    copied = copy_of(value)
    assert copied is not value
    assert type(copied) is type(value)
    assert copied == value


def test_a_copy_shares_no_mutable_part() -> None:
    value = {"list": [[1]], "row": Row([1]), "tuple": ([1],), "order": Order([1]), "slotted": Slotted([1])}
    copied = copy_of(value)
    value["list"][0].append(2)  # type: ignore[index]
    value["row"][0].append(2)  # type: ignore[index]
    value["tuple"][0].append(2)  # type: ignore[index]
    value["order"].items.append(2)  # type: ignore[attr-defined]
    value["slotted"].items.append(2)  # type: ignore[attr-defined]
    assert (copied["list"], copied["row"], copied["tuple"], copied["order"]) == ([[1]], Row([1]), ([1],), Order([1]))
    assert copied["slotted"].items == [1]


def test_a_row_keeps_names_and_kind() -> None:
    row = Row(a=1)
    row.set_row_kind(RowKind.UPDATE_AFTER)
    assert repr(copy_of(row)) == "Row(a=1)"
    assert copy_of(row).get_row_kind() is RowKind.UPDATE_AFTER


def test_parts_that_are_one_object_stay_one_object() -> None:
    part = [1]
    one, other = copy_of([part, part])
    assert one is other
    assert one is not part


def test_a_value_that_contains_itself_is_copied() -> None:
    value: list[Any] = [1]
    value.append((value,))
    copied = copy_of(value)
    assert copied is not value
    assert copied[1][0] is copied


def test_arrays_are_copied_with_the_objects_in_them() -> None:
    numbers, objects = np.zeros(2), np.array([[1], None], dtype=object)
    copied = copy_of([numbers, objects])
    numbers[0], objects[0][0] = 9, 9
    assert copied[0].tolist() == [0, 0]
    assert copied[1].tolist() == [[1], None]


def test_what_cannot_be_copied_is_shared_and_the_rest_is_copied() -> None:
    value = {"lock": threading.Lock(), "list": [1]}
    copied = copy_of(value)
    assert copied["lock"] is value["lock"]
    assert copied["list"] is not value["list"]


def test_a_value_too_deep_to_be_pickled_is_shared() -> None:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    assert copy_of(value) is value


def test_a_class_may_say_how_it_is_copied() -> None:
    assert copy_of([Own()]) == ["copied"]


def test_a_row_that_only_the_caller_has_is_not_copied() -> None:
    for row in map(Row, (1,)):
        assert kept_flat_row(row) is row


def test_a_row_that_somebody_else_has_is_copied() -> None:
    held = [Row(1)]

    def growing() -> Any:
        row = Row(1)
        yield row
        row[0] = 2

    for row in held:
        assert kept_flat_row(row) is not row
    for row in growing():
        assert kept_flat_row(row) is not row
