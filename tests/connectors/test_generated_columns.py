"""Columns of the `datagen` connector: values of every type, within what is set for them."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest

from scurry.errors import ValidationError
from scurry.sql.connectors.datagen.columns import RandomColumns, sequence_column
from scurry.sql.types import DataType
from scurry.sql.types.values import to_values
from scurry.table import DataTypes

SIZE = 500


def generated(data_type: Any, **settings: Any) -> list[Any]:
    """Values of a column, where elements have the settings of their own keys."""

    def found(prefix: str, of: DataType) -> Mapping[str, Any]:
        return settings.get(prefix, {}) if prefix != "column" else settings

    return to_values(RandomColumns(found).column("column", data_type)(SIZE))


def test_integers_reach_both_limits() -> None:
    assert set(generated(DataTypes.INT(), min=-1, max=1)) == {-1, 0, 1}


def test_integers_without_limits_are_of_the_whole_type() -> None:
    values = generated(DataTypes.BIGINT())
    assert min(values) < -(1 << 62) and max(values) > 1 << 62
    assert all(-(1 << 7) <= value < 1 << 7 for value in generated(DataTypes.TINYINT()))


def test_doubles_without_limits_are_finite() -> None:
    values = generated(DataTypes.DOUBLE())
    assert all(abs(value) <= 1.7e308 for value in values) and min(values) < 0 < max(values)


def test_decimals_have_the_scale_of_their_type() -> None:
    values = generated(DataTypes.DECIMAL(5, 2), min=1.0, max=2.0)
    assert all(Decimal(1) <= value <= Decimal(2) and value.as_tuple().exponent == -2 for value in values)


def test_texts_are_hexadecimal_and_of_the_length_asked_for() -> None:
    values = generated(DataTypes.STRING(), length=6)
    assert all(len(value) == 6 and set(value) <= set("0123456789abcdef") for value in values)
    assert len(set(values)) > SIZE // 2


def test_texts_of_variable_length_are_up_to_that_long() -> None:
    lengths = {len(value) for value in generated(DataTypes.STRING(), length=3, **{"var-len": True})}
    assert lengths == {1, 2, 3}


def test_bytes_have_all_values() -> None:
    assert set(b"".join(generated(DataTypes.BYTES(), length=20))) == set(range(256))


def test_a_text_longer_than_its_type_is_refused() -> None:
    with pytest.raises(ValidationError, match="Custom length '9'"):
        generated(DataTypes.VARCHAR(8), length=9)


def test_a_share_of_the_values_is_null() -> None:
    nulls = generated(DataTypes.BOOLEAN(), **{"null-rate": 0.5}).count(None)
    assert SIZE * 0.3 < nulls < SIZE * 0.7


def test_arrays_have_the_length_asked_for_and_their_elements_their_own_settings() -> None:
    values = generated(DataTypes.ARRAY(DataTypes.INT()), length=4, **{"column.element": {"min": 7, "max": 8}})
    assert all(len(value) == 4 for value in values)
    assert {element for value in values for element in value} == {7, 8}


def test_a_key_drawn_twice_is_one_entry_of_a_map() -> None:
    one = {"min": 1, "max": 1}
    values = generated(
        DataTypes.MAP(DataTypes.INT(), DataTypes.INT()), length=3, **{"column.key": one, "column.value": one}
    )
    assert values == [[(1, 1)]] * SIZE


def test_rows_have_fields_of_their_own() -> None:
    row = DataTypes.ROW([DataTypes.FIELD("a", DataTypes.INT()), DataTypes.FIELD("b", DataTypes.BOOLEAN())])
    assert all(0 <= a <= 9 and isinstance(b, bool) for a, b in generated(row, **{"column.a": {"min": 0, "max": 9}}))


def test_readers_draw_different_values() -> None:
    assert generated(DataTypes.BIGINT()) != generated(DataTypes.BIGINT())


@pytest.mark.parametrize(
    ("data_type", "expected"),
    [
        (DataTypes.BIGINT(), [126, 127, 128, 129]),
        (DataTypes.TINYINT(), [126, 127, -128, -127]),
        (DataTypes.STRING(), ["126", "127", "128", "129"]),
        (DataTypes.DOUBLE(), [126.0, 127.0, 128.0, 129.0]),
        (DataTypes.DECIMAL(4, 0), [Decimal(126), Decimal(127), Decimal(128), Decimal(129)]),
    ],
    ids=str,
)
def test_a_sequence_goes_on_where_its_last_piece_ended(data_type: Any, expected: list[Any]) -> None:
    column = sequence_column(126, data_type)
    assert to_values(column(1)) + to_values(column(3)) == expected
