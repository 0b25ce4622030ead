from __future__ import annotations

import copy
import pickle

import pytest

from scurry.common import Row, RowKind, types
from scurry.errors import RowFieldError


def test_reads_fields_by_position_name_attribute_and_slice() -> None:
    row = Row(name="ann", age=3)
    assert (row[0], row["age"], row.age, row[0:2], row[-1]) == ("ann", 3, 3, ["ann", 3], 3)


def test_writes_fields_by_position_and_name() -> None:
    row = Row(name="ann", age=3)
    row[0] = "bob"
    row["age"] = 4
    assert row == Row(name="bob", age=4)


def test_attributes_cannot_be_set() -> None:
    with pytest.raises(AttributeError):
        Row(name="ann").name = "bob"  # type: ignore[attr-defined]


@pytest.mark.parametrize("error", [AttributeError, KeyError, ValueError, RowFieldError])
def test_missing_field_is_every_error_pyflink_raises_for_it(error: type[Exception]) -> None:
    with pytest.raises(error, match="no field 'age'; the row has 'name'"):
        Row(name="ann")["age"]
    with pytest.raises(error, match="no field names"):
        Row("ann")["age"] = 3
    assert not hasattr(Row(name="ann"), "age")


def test_takes_values_by_position_or_name_but_not_both() -> None:
    with pytest.raises(ValueError, match="Can not use both args and kwargs"):
        Row(1, a=2)


def test_row_of_names_makes_rows() -> None:
    person = Row("name", "age")
    assert person("bob", 7) == Row(name="bob", age=7)
    with pytest.raises(ValueError, match="expected 2 values but got"):
        person(1, 2, 3)


def test_shows_as_in_pyflink() -> None:
    assert repr(Row(name="a", age=1)) == "Row(name='a', age=1)"
    assert str(Row("a", 1)) == "<Row('a', 1)>"


def test_equality_ignores_the_order_of_names_only() -> None:
    assert Row(a=1, b=2) == Row(b=2, a=1)
    assert Row(1, 2) == Row(1, 2)
    assert Row(1, 2) != Row(2, 1)
    assert Row(a=1) != Row(b=1)
    assert Row(a=1) != Row(1)
    assert Row(1) != (1,)
    assert Row(1) != Row.of_kind(RowKind.DELETE, 1)


def test_equal_rows_hash_alike() -> None:
    assert len({Row(1, "a"), Row(1, "a"), Row(2, "a")}) == 2


def test_contains_looks_at_names_or_values() -> None:
    assert "a" in Row(a=1) and 1 not in Row(a=1)
    assert 1 in Row(1)


def test_becomes_a_dict() -> None:
    row = Row(a=1, b=[Row(c=2)], d={"e": Row(f=3)})
    assert row.as_dict() == {"a": 1, "b": [Row(c=2)], "d": {"e": Row(f=3)}}
    assert row.as_dict(True) == {"a": 1, "b": [{"c": 2}], "d": {"e": {"f": 3}}}
    with pytest.raises(TypeError, match="Cannot convert a Row class into dict"):
        Row(1).as_dict()


def test_names_can_be_given_later() -> None:
    row = Row(1, 2)
    row.set_field_names(["a", "b"])
    assert row.get_fields_by_names(["b", "a"]) == [2, 1]


def test_kind_defaults_to_insert_and_can_change() -> None:
    row = Row(1)
    assert row.get_row_kind() is RowKind.INSERT
    row.set_row_kind(RowKind.UPDATE_BEFORE)
    assert row == Row.of_kind(RowKind.UPDATE_BEFORE, 1)
    assert [str(kind) for kind in RowKind] == ["+I", "-U", "+U", "-D"]


@pytest.mark.parametrize("row", [Row(), Row(1, "a"), Row(a=1, b=None), Row.of_kind(RowKind.DELETE, Row(x=1))])
def test_survives_pickling_and_copying(row: Row) -> None:
    for twin in (pickle.loads(pickle.dumps(row)), copy.deepcopy(row), copy.copy(row)):
        assert twin == row and twin.get_row_kind() is row.get_row_kind()


def test_a_copy_does_not_change_with_the_row() -> None:
    row = Row(a=1, b=2)
    twin = copy.copy(row)
    row[0] = 5
    assert (twin, row) == (Row(a=1, b=2), Row(a=5, b=2))


def test_rows_of_states_that_were_written_with_lists_are_equal() -> None:
    _, (values, names) = Row(a=1, b=2).__reduce__()
    assert types._restore(list(values), names) == Row(a=1, b=2)


def test_several_fields_are_a_list() -> None:
    row = Row(a=1, b=2, c=3)
    assert row[1:] == [2, 3]
    assert row.get_fields_by_names(["a", "b", "c"]) == [1, 2, 3]


def test_pickles_small() -> None:
    rows = [Row._from_values([i, i], ("first", "second")) for i in range(100)]
    assert len(pickle.dumps(rows)) < 100 * 20


def test_iterates_over_values() -> None:
    assert list(Row(a=1, b=2)) == [1, 2] and len(Row(a=1, b=2)) == 2
