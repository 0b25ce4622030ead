from __future__ import annotations

from functools import reduce
from typing import Any

import pytest

from scurry.common import Row, RowKind, Types
from scurry.datastream import DataStream, StreamExecutionEnvironment
from scurry.datastream._aggregations import MaxBy, MaxField, MinBy, MinField, SumField
from scurry.errors import ArgumentError, ArgumentTypeError

TUPLES = [("a", 3, "first"), ("a", 1, "second"), ("a", 5, "third"), ("a", 5, "fourth"), ("a", 1, "fifth")]


def result(kind: Any, position: Any, records: list[Any]) -> Any:
    return reduce(kind(position).reduce, records)


class TestReducing:
    @pytest.mark.parametrize(
        ("kind", "expected"),
        [
            (SumField, ("a", 15, "first")),
            (MinField, ("a", 1, "first")),
            (MaxField, ("a", 5, "first")),
            (MinBy, ("a", 1, "second")),
            (MaxBy, ("a", 5, "third")),
        ],
    )
    def test_tuples(self, kind: Any, expected: Any) -> None:
        assert result(kind, 1, TUPLES) == expected

    def test_rows_by_name_and_position_keep_names_and_kind(self) -> None:
        rows = [Row(city="oslo", temp=-3.5), Row(city="oslo", temp=1.0)]
        rows[0].set_row_kind(RowKind.UPDATE_AFTER)
        for position in ("temp", 1):
            summed = result(SumField, position, rows)
            assert (summed.as_dict(), summed.get_row_kind()) == ({"city": "oslo", "temp": -2.5}, RowKind.UPDATE_AFTER)
        assert result(MaxBy, "temp", rows) is rows[1]

    def test_records_that_came_in_are_left_alone(self) -> None:
        rows, lists = [Row("a", 1), Row("a", 2)], [["a", 1], ["a", 2]]
        assert list(result(SumField, 1, rows)) == result(SumField, 1, lists) == ["a", 3]
        assert (rows[0][1], lists[0][1]) == (1, 1)

    def test_plain_values_are_their_own_field_0(self) -> None:
        assert [result(kind, 0, [2, 1, 3]) for kind in (SumField, MinField, MaxField, MinBy, MaxBy)] == [6, 1, 3, 1, 3]

    def test_fields_that_are_not_there_are_told_at_the_first_pair(self) -> None:
        with pytest.raises(ArgumentTypeError, match=r"^sum\(1\) cannot select field 1 of 1"):
            result(SumField, 1, [1, 2])
        with pytest.raises(ArgumentTypeError, match=r"^sum\('n'\) .* positions only: pass the position"):
            result(SumField, "n", TUPLES)


class TestChecks:
    """Where the type is declared, a field that is not there is refused while the program is built."""

    def keyed(self, env: StreamExecutionEnvironment, type_info: Any) -> Any:
        return DataStream.map(env.from_collection([0]), lambda value: value, type_info).key_by(lambda value: 0)

    def test_fields_that_exist_are_fine(self, env: StreamExecutionEnvironment) -> None:
        row = Types.ROW_NAMED(["k", "n"], [Types.STRING(), Types.INT()])
        for type_info, position in [(row, "n"), (row, 1), (Types.TUPLE([Types.INT()]), 0), (Types.INT(), 0), (None, 7)]:
            assert self.keyed(env, type_info).max_by(position).get_type() == type_info or type_info is None

    @pytest.mark.parametrize(
        ("type_info", "position", "error", "message"),
        [
            (Types.TUPLE([Types.INT()]), 1, ArgumentError, "positions are 0 to 0"),
            (Types.TUPLE([Types.INT()]), -1, ArgumentError, "positions are 0 to 0"),
            (Types.TUPLE([Types.INT()]), "n", ArgumentTypeError, "have no names"),
            (Types.ROW_NAMED(["k"], [Types.INT()]), "n", ArgumentError, "it has 'k'"),
            (Types.INT(), 1, ArgumentTypeError, "basic type"),
            (None, 1.5, ArgumentTypeError, "int or str"),
        ],
    )
    def test_others_are_refused(
        self, env: StreamExecutionEnvironment, type_info: Any, position: Any, error: Any, message: str
    ) -> None:
        for method in ("sum", "min", "max", "min_by", "max_by"):
            with pytest.raises(error, match=message):
                getattr(self.keyed(env, type_info), method)(position)
