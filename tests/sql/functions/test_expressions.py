"""Typed calls are made with Flink's types, and compiled expressions compute columns."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from scurry.errors import EvaluationError, ValidationError
from scurry.sql.evaluation.expressions import compile_expressions
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan.calls import call, cast
from scurry.sql.plan.expressions import Expression, InputReference, Literal
from scurry.sql.types import DataType, DecimalType, IntType
from scurry.sql.types.families import BIGINT, INT, STRING

SESSION = EvaluationContext()
A, B = InputReference(0, INT), InputReference(1, INT)


def number(value: int) -> Literal:
    return Literal(value, IntType(False))


def computed(*expressions: Expression, **columns: list[Any]) -> list[list[Any]]:
    batch = pa.record_batch({name: pa.array(values, pa.int32()) for name, values in columns.items()})
    return [column.to_pylist() for column in compile_expressions(expressions, SESSION)(batch)]


@pytest.mark.parametrize(
    ("operator", "right", "shown"),
    [
        ("+", BIGINT, "BIGINT"),
        ("/", DecimalType(5, 2), "DECIMAL(18, 6)"),
        ("*", DecimalType(38, 18, False), "DECIMAL(38, 7)"),
        ("<", STRING, "BOOLEAN"),
    ],
)
def test_a_call_has_the_result_type_of_its_arguments(operator: str, right: DataType, shown: str) -> None:
    assert call(operator, [A, InputReference(1, right)], SESSION).type.as_summary_string() == shown


def test_arguments_are_converted_to_what_the_function_takes() -> None:
    found = call("=", [A, InputReference(1, BIGINT)], SESSION)
    assert found.arguments[0] == cast(A, BIGINT, SESSION)


def test_a_wrong_argument_is_refused_in_the_words_of_flink() -> None:
    with pytest.raises(ValidationError) as refused:
        call("+", [A, InputReference(1, STRING)], SESSION)
    assert str(refused.value) == (
        "SQL validation failed. Cannot apply '+' to arguments of type '<INTEGER> + <VARCHAR(2147483647)>'. "
        "Supported form(s): '<NUMERIC> + <NUMERIC>'\n'<DATETIME_INTERVAL> + <DATETIME_INTERVAL>'\n"
        "'<DATETIME> + <DATETIME_INTERVAL>'\n'<DATETIME_INTERVAL> + <DATETIME>'"
    )


def test_whole_numbers_wrap_around() -> None:
    assert computed(call("+", [A, number(1)], SESSION), a=[2**31 - 1, None]) == [[-(2**31), None]]


def test_a_branch_is_computed_for_its_rows_only() -> None:
    guarded = call("CASE", [call("<>", [B, number(0)], SESSION), call("/", [A, B], SESSION), number(-1)], SESSION)
    assert computed(guarded, a=[10, 7, None], b=[3, 0, 1]) == [[3, -1, None]]


def test_an_operand_of_and_is_computed_where_the_others_leave_it_open() -> None:
    above = call(">", [call("/", [A, B], SESSION), number(1)], SESSION)
    assert computed(call("AND", [call("<>", [B, number(0)], SESSION), above], SESSION), a=[10, 7], b=[3, 0]) == [
        [True, False]
    ]


def test_a_row_that_cannot_be_computed_fails() -> None:
    with pytest.raises(EvaluationError, match="/ by zero"):
        computed(call("/", [A, B], SESSION), a=[1], b=[0])


def test_a_constant_that_fails_only_fails_if_a_row_needs_it() -> None:
    never = call("CASE", [call("=", [A, B], SESSION), call("/", [number(1), number(0)], SESSION), number(2)], SESSION)
    assert computed(never, a=[1], b=[2]) == [[2]]


def test_quotients_of_decimals_are_rounded_to_their_type() -> None:
    third = call("/", [A, Literal(Decimal("1.5"), DecimalType(2, 1, False))], SESSION)
    assert computed(third, a=[10, None]) == [[Decimal("6.666667"), None]]
