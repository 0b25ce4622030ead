"""No function that declares its result NOT NULL returns NULL, for edge values of all types; BATCH and STREAMING alike.

What reads a result relies on the declaration: COALESCE of it is left out, and a column that is NOT NULL refuses NULL.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from decimal import Decimal
from itertools import product
from typing import Any

import pyarrow as pa
import pytest

from scurry.errors import EvaluationError, ScurryError
from scurry.sql.evaluation.expressions import CompiledExpressions, compile_expressions
from scurry.sql.functions.catalogue import callable_functions, lookup
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.functions.forms import takes_number
from scurry.sql.plan.expressions import Expression
from scurry.sql.plan.schema import Column, Schema
from scurry.sql.syntax.parser import parse
from scurry.sql.types import ArrayType, DataType, MapType, RowType
from scurry.sql.types.values import from_values, to_values
from scurry.sql.validator import validate_expression
from scurry.table import DataTypes
from sql.functions.evaluation import NoTables

ROWS = 40
DAY = 86_400_000
_TEXTS = [
    "",
    " ",
    "a",
    "1",
    "-1.5",
    "2024-02-29 23:59:59.999",
    "yyyy",
    '{"a": [1]}',
    "é😀",
    "%_",
    "(",
    "http://h/p?a=b#c",
]
#: Types with values of all kinds, as `scurry.sql.types.values` has them.
VALUES: dict[DataType, list[Any]] = {
    DataTypes.BOOLEAN(): [True, False],
    DataTypes.TINYINT(): [0, 1, -128, 127],
    DataTypes.INT(): [0, 1, -1, 2, 100, -(2**31)],
    DataTypes.BIGINT(): [0, 1, -1, 1_700_000_000, -(2**63), 2**63 - 1],
    DataTypes.DECIMAL(5, 2): [Decimal("0.00"), Decimal("1.50"), Decimal("-999.99")],
    DataTypes.DECIMAL(38, 0): [Decimal(0), Decimal(10**38 - 1), Decimal(1 - 10**38)],
    DataTypes.FLOAT(): [0.0, -0.0, 1.5, float("nan"), float("inf")],
    DataTypes.DOUBLE(): [0.0, -0.0, 1.5, -2.0, float("nan"), float("inf"), float("-inf"), 5e-324, 1.7e308],
    DataTypes.STRING(): _TEXTS,
    DataTypes.CHAR(2): ["ab", "  ", "10"],
    DataTypes.BYTES(): [b"", b"a", b"\xff\x00"],
    DataTypes.DATE(): [0, -719_162, 2_932_896, 19_782],
    DataTypes.TIME(): [0, DAY - 1],
    DataTypes.TIMESTAMP(3): [0, -1, -719_162 * DAY, 2_932_896 * DAY],
    DataTypes.TIMESTAMP_LTZ(3): [0, -1, -719_162 * DAY, 2_932_896 * DAY],
    DataTypes.INTERVAL(DataTypes.DAY(), DataTypes.SECOND(3)): [0, -1, DAY],
    DataTypes.INTERVAL(DataTypes.YEAR(), DataTypes.MONTH()): [0, -1, 12],
    DataTypes.ARRAY(DataTypes.INT().not_null()): [[], [1], [2, -1, 2]],
    DataTypes.ARRAY(DataTypes.STRING()): [[], ["a"], [None, "b"]],
    DataTypes.MAP(DataTypes.STRING(), DataTypes.INT()): [[], [("a", 1)], [("b", None)]],
    DataTypes.ROW([DataTypes.FIELD("f", DataTypes.INT()), DataTypes.FIELD("g", DataTypes.STRING().not_null())]): [
        (1, "x"),
        (None, ""),
    ],
}
#: The types from which functions of three arguments and more are tried.
_FEW = [
    DataTypes.INT(),
    DataTypes.DOUBLE(),
    DataTypes.STRING(),
    DataTypes.TIMESTAMP(3),
    DataTypes.ARRAY(DataTypes.STRING()),
]
_OPERATORS = [
    "{} + {}",
    "{} - {}",
    "{} * {}",
    "{} / {}",
    "{} % {}",
    "{} || {}",
    "- {}",
    "NOT {}",
    "{} = {}",
    "{} < {}",
    "{} AND {}",
    "{} OR {}",
    "{} LIKE {}",
    "{} NOT LIKE {}",
    "{} SIMILAR TO {}",
    "{} IS NULL",
    "{} IS NOT NULL",
    "{} IS TRUE",
    "{} IS NOT FALSE",
    "{} IS UNKNOWN",
    "{} IS DISTINCT FROM {}",
    "{} IS JSON VALUE",
    "{} IS NOT JSON OBJECT",
    "{} BETWEEN {} AND {}",
    "{} IN ({}, {})",
    "{}[{}]",
    "{}.f",
    "{}.g",
    "CASE WHEN {} THEN {} ELSE {} END",
    "CASE WHEN {} THEN {} END",
    "CASE {} WHEN {} THEN 1 ELSE 2 END",
    "ARRAY[{}, {}]",
    "MAP[{}, {}]",
    "ROW({}, {})",
    "EXTRACT(YEAR FROM {})",
    "EXTRACT(SECOND FROM {})",
    "EXTRACT(EPOCH FROM {})",
    "FLOOR({} TO MONTH)",
    "CEIL({} TO HOUR)",
    "TRIM(BOTH {} FROM {})",
    "TRIM({})",
    "POSITION({} IN {})",
    "OVERLAY({} PLACING {} FROM {})",
    "SUBSTRING({} FROM {})",
    "TIMESTAMPADD(DAY, {}, {})",
    "TIMESTAMPDIFF(SECOND, {}, {})",
    "JSON_VALUE({}, '$.a')",
    "JSON_VALUE({}, '$.a' RETURNING INT DEFAULT 1 ON EMPTY DEFAULT 2 ON ERROR)",
    "JSON_QUERY({}, '$.a')",
    "JSON_QUERY({}, 'lax $.b' EMPTY ARRAY ON EMPTY EMPTY OBJECT ON ERROR)",
    "JSON_EXISTS({}, '$.a')",
    "JSON_OBJECT('k' VALUE {})",
    "JSON_ARRAY({}, {} NULL ON NULL)",
    "({}, {}) OVERLAPS ({}, {})",
    "{} AT LOCAL",
    *(
        f"{cast}({{}} AS {kind})"
        for cast in ("CAST", "TRY_CAST")
        for kind in (
            "STRING",
            "CHAR(1)",
            "BYTES",
            "BOOLEAN",
            "TINYINT",
            "INT",
            "DECIMAL(3, 1)",
            "DOUBLE",
            "DATE",
            "TIME",
            "TIMESTAMP(3)",
            "TIMESTAMP_LTZ(3)",
            "ARRAY<INT>",
            "ARRAY<STRING NOT NULL>",
            "MAP<STRING, STRING>",
            "ROW<a BIGINT, b STRING>",
            "INTERVAL DAY",
        )
    ),
]
#: What another call may return something else for.
_CHANGING = {"RAND", "RAND_INTEGER", "UUID", "NOW", "PROCTIME", "UNIX_TIMESTAMP", "CURRENT_WATERMARK"}


def templates() -> Iterator[str]:
    """Yield calls of all functions with up to four arguments, and operators, with `{}` for each argument."""
    yield from _OPERATORS
    for name in callable_functions():
        if lookup(name) is not None and name not in _CHANGING and not name.startswith(("CURRENT_", "LOCALTIME")):
            yield from (f"{name}({', '.join(['{}'] * number)})" for number in range(5) if takes_number(name, number))


def calls(template: str) -> Iterator[tuple[Expression, Schema]]:
    """Yield a call for each list of types that it takes, of values that are NOT NULL and of some that are NULL."""
    number = template.count("{}")
    try:
        query: Any = parse("SELECT " + template.format(*(f"c{place}" for place in range(number))))
    except ScurryError:
        return
    for kinds in product(VALUES if number <= 2 else _FEW, repeat=number):
        for nullable in {False, number > 0}:
            columns = (Column(f"c{place}", kind.with_nullability(nullable)) for place, kind in enumerate(kinds))
            schema = Schema(tuple(columns))
            try:
                yield validate_expression(query.items[0].expression, schema, NoTables(), EvaluationContext()), schema
            except ScurryError:
                continue


def batch_of(schema: Schema) -> pa.RecordBatch:
    choice = random.Random(len(schema))
    columns = {"rows": pa.nulls(ROWS)}
    for each in schema:
        values = VALUES[each.type.nullable()] + [None] * each.type.is_nullable
        columns[each.name] = from_values([choice.choice(values) for _ in range(ROWS)], each.type)
    return pa.record_batch(columns).select([each.name for each in schema] or ["rows"])


def computed(expression: Expression, batch: pa.RecordBatch, session: EvaluationContext) -> list[Any]:
    """Return the values for the rows for which there are some; rows that fail have none."""
    try:
        evaluate = compile_expressions([expression], session)
    except EvaluationError:
        return []
    try:
        return to_values(evaluate(batch)[0])
    except EvaluationError:
        return [_value(evaluate, batch.slice(place, 1)) for place in range(batch.num_rows)]


def _value(evaluate: CompiledExpressions, row: pa.RecordBatch) -> Any:
    try:
        return to_values(evaluate(row)[0])[0]
    except EvaluationError as error:
        return "no value", str(error)


def breaks(value: Any, declared: DataType) -> bool:
    """Say whether a value is NULL, or has NULL, where its type has none."""
    if value is None:
        return not declared.is_nullable
    if isinstance(value, tuple) and value[:1] == ("no value",):
        return False
    parts: list[tuple[Any, DataType]] = []
    if isinstance(declared, ArrayType):
        parts = [(each, declared.element_type) for each in value]
    elif isinstance(declared, MapType):
        parts = [pair for key, item in value for pair in ((key, declared.key_type), (item, declared.value_type))]
    elif isinstance(declared, RowType):
        parts = list(zip(value, declared.field_types(), strict=True))
    return any(breaks(*each) for each in parts)


#: Calls that Flink declares NOT NULL, too: the type of the result, and what has NULL; showing it fails in both.
AS_IN_FLINK = {
    "{} + {}": "DECIMAL: a number of too many digits",
    "{} - {}": "DECIMAL: a number of too many digits",
    "{} * {}": "DECIMAL: a number of too many digits",
    "{} / {}": "DECIMAL: a number of too many digits",
    "CAST({} AS DECIMAL(3, 1))": "DECIMAL: a number of too many digits",
    "ROUND({}, {})": "DECIMAL: a number of too many digits",
    "CAST({} AS ARRAY<STRING NOT NULL>)": "ARRAY: an element that is NULL",
    "TRY_CAST({} AS ARRAY<STRING NOT NULL>)": "ARRAY: an element that is NULL",
    "ELEMENT({})": ": an ARRAY without elements, of which Flink shows -1 or ''",
    "INSTR({}, {}, {}, {})": "INT: an occurrence below 1",
    "LPAD({}, {}, {})": "STRING: a length below 0",
    "RPAD({}, {}, {})": "STRING: a length below 0",
    "REGEXP_REPLACE({}, {}, {})": "STRING: a text that is no regular expression",
}


@pytest.mark.parametrize(
    "template",
    [each if each.count("{}") < 2 else pytest.param(each, marks=pytest.mark.nightly) for each in templates()],
)
def test_a_result_that_is_not_null_has_no_null(template: str) -> None:
    allowed = AS_IN_FLINK.get(template, "nothing").partition(":")[0]
    wrong = []
    for expression, schema in calls(template):
        shown = f"{template} of {', '.join(map(str, schema))} is {expression.type}"
        batch = batch_of(schema)
        results, rows = computed(expression, batch, EvaluationContext()), batch.to_pylist()
        if allowed not in expression.type.as_summary_string():
            wrong += [
                f"{shown}: {each} for {rows[n]}" for n, each in enumerate(results) if breaks(each, expression.type)
            ]
        if repr(computed(expression, batch, EvaluationContext(is_streaming=True))) != repr(results):
            wrong.append(f"{shown}: STREAMING differs")
    assert wrong == []


@pytest.mark.parametrize("template", list(AS_IN_FLINK))
def test_what_flink_declares_wrongly_is_still_so(template: str) -> None:
    found = (
        breaks(each, e.type)
        for e, schema in calls(template)
        for each in computed(e, batch_of(schema), EvaluationContext())
    )
    assert any(found)
