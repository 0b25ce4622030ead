"""The expressions whose types, values and errors real Flink has recorded, and what scurry makes of them.

`judge` follows `run.py` beside the corpus, without statements: each expression is validated and compiled by itself,
over columns whose values no optimiser can know.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from typing import Any

import pyarrow as pa

from scurry.errors import EvaluationError, SqlParserError, ValidationError
from scurry.sql.evaluation.expressions import compile_expressions
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan.calls import cast
from scurry.sql.plan.expressions import Expression
from scurry.sql.plan.schema import Column, Schema
from scurry.sql.syntax.parser import parse
from scurry.sql.types import DataType, NullType
from scurry.sql.types.families import BIGINT, BOOLEAN, BYTES, DATE, DOUBLE, FLOAT, INT, SMALLINT, STRING, TINYINT
from scurry.sql.types.values import from_values, to_value
from scurry.sql.validator import validate_expression
from scurry.table.types import DataTypes
from sql.functions.evaluation import NoTables
from support.conformance import CONFORMANCE

CORPUS = CONFORMANCE / "sql" / "functions" / "public.jsonl"

NULL_COLUMNS: dict[str, DataType] = {
    "n_boolean": BOOLEAN,
    "n_tinyint": TINYINT,
    "n_smallint": SMALLINT,
    "n_int": INT,
    "n_bigint": BIGINT,
    "n_float": FLOAT,
    "n_double": DOUBLE,
    "n_decimal": DataTypes.DECIMAL(10, 2),
    "n_string": STRING,
    "n_bytes": BYTES,
    "n_date": DATE,
    "n_time": DataTypes.TIME(),
    "n_timestamp": DataTypes.TIMESTAMP(3),
    "n_ltz": DataTypes.TIMESTAMP_LTZ(3),
    "n_array": DataTypes.ARRAY(INT),
    "n_strings": DataTypes.ARRAY(STRING),
    "n_map": DataTypes.MAP(STRING, INT),
    "n_row": DataTypes.ROW([DataTypes.FIELD("a", INT), DataTypes.FIELD("b", STRING)]),
}
COLLECTED = re.compile(
    r"(BOOLEAN|TINYINT|SMALLINT|INT|BIGINT|DOUBLE|DECIMAL|CHAR|VARCHAR|STRING|BINARY|VARBINARY|BYTES)\b"
)
UNORDERED = {"MAP_KEYS", "MAP_VALUES", "MAP_ENTRIES"}


@dataclass(frozen=True)
class Answer:
    """The type and text of a value, or the kind of an error."""

    type: str | None = None
    value: str | None = None
    error: str | None = None
    message: str = ""


def cases() -> Iterator[dict[str, Any]]:
    """Iterate over the recorded expressions."""
    with CORPUS.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


@cache
def _session(time_zone: str) -> EvaluationContext:
    return EvaluationContext(time_zone=time_zone, query_start=1_600_000_000_000)


def _validated(text: str, schema: Schema, session: EvaluationContext) -> Expression:
    query: Any = parse(f"SELECT {text}")
    return validate_expression(query.items[0].expression, schema, NoTables(), session)


_ONE_ROW = pa.record_batch({"k": pa.array([1], pa.int32())})
_K = Schema((Column("k", INT),))


@cache
def _column(definition: str, time_zone: str) -> tuple[DataType, pa.Array]:
    session = _session(time_zone)
    expression = _validated(f"CASE WHEN k = 1 THEN {definition} END", _K, session)
    return expression.type, compile_expressions([expression], session)(_ONE_ROW)[0]


def answer(case: dict[str, Any]) -> Answer:
    """Evaluate the expression of a case."""
    session = _session(case.get("tz", "UTC"))
    shown = None
    try:
        columns: dict[str, tuple[DataType, pa.Array]] = {}
        for name, definition in (case.get("cols") or {}).items():
            if definition is None:
                columns[name] = (NULL_COLUMNS[name], from_values([None], NULL_COLUMNS[name]))
            else:
                columns[name] = _column(definition, case.get("tz", "UTC"))
        schema = Schema(tuple(Column(name, data_type) for name, (data_type, _) in columns.items()))
        expression = _validated(case["expr"], schema, session)
        if isinstance(expression.type, NullType):
            return Answer(error="validation", message="Illegal use of 'NULL'")
        shown = expression.type.as_summary_string()
        if case.get("type_only") or case.get("via") == "none":
            return Answer(shown)
        if not COLLECTED.match(shown):
            expression = cast(expression, STRING, session)
        arrays = {name: array for name, (_, array) in columns.items()} or {"k": pa.array([1], pa.int32())}
        result = compile_expressions([expression], session)(pa.record_batch(arrays))[0][0]
        value = to_value(result)
        if value is None and not expression.type.is_nullable:
            return Answer(shown, error="runtime", message="Column is NOT NULL, however, a null value is being written")
        return Answer(shown, _text(value))
    except (SqlParserError, ValidationError) as error:
        return Answer(shown, error="validation", message=str(error))
    except EvaluationError as error:
        return Answer(shown, error="runtime", message=str(error))
    except Exception as error:  # what is broken is counted, not raised: one case is one case
        return Answer(shown, error="broken", message=f"{type(error).__name__}: {error}")


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    return repr(value) if isinstance(value, float) else format(value, "f") if hasattr(value, "as_tuple") else str(value)


def judge(case: dict[str, Any], got: Answer, strict_types: bool = False) -> str | None:
    """Return what differs from Flink's answer; None if nothing does."""
    if "error" in case:
        kinds = {case["error"]} | ({"validation"} if case.get("stage") == "execute" else set())
        if got.error is None:
            return f"expected a {case['error']} error ({case['message'][:80]}), got {got.value}"
        return (
            None
            if got.error in kinds
            else f"expected a {case['error']} error ({case['message'][:60]}), got {got.error}: {got.message[:120]}"
        )
    if got.error is not None:
        return f"expected {case.get('value')}, got {got.error}: {got.message[:160]}"
    wanted, given = (str(case["type"]), str(got.type))
    if not strict_types:
        wanted, given = _loose(wanted), _loose(given)
    if wanted != given:
        return f"expected type {wanted}, got {given}"
    if case.get("type_only") or case.get("via") == "none":
        return None
    return None if _same(case, got) else f"expected {case.get('value')!r}, got {got.value!r}"


def _loose(text: str) -> str:
    text = text.replace(" NOT NULL", "").replace("VARCHAR(2147483647)", "STRING")
    return text.replace("VARBINARY(2147483647)", "BYTES")


def _same(case: dict[str, Any], got: Answer) -> bool:
    wanted, given = case.get("value"), got.value
    if wanted == given:
        return True
    if wanted is None or given is None:
        return False
    if case["type"].startswith("DOUBLE"):
        one, other = float(wanted), float(given)
        return one == other or (math.isnan(one) and math.isnan(other)) or math.isclose(one, other, rel_tol=1e-14)
    if not (case["fn"] in UNORDERED or case["type"].startswith("MAP<")):
        return False
    return sorted(re.split(r"[\[\]{}, ]+", wanted)) == sorted(re.split(r"[\[\]{}, ]+", given))


def main(pattern: str = "*", shown: int = 40) -> None:
    """Print how many cases of CATEGORY/FUNCTION are met, and some that are not."""
    met, differences = 0, []
    for case in cases():
        if fnmatch(f"{case['cat']}/{case['fn']}", pattern):
            difference = judge(case, answer(case))
            met += difference is None
            if difference is not None:
                differences.append((case, difference))
    print(f"{met} met, {len(differences)} not")
    for case, difference in differences[:: max(len(differences) // shown, 1)]:
        text = case["expr"]
        for name, definition in (case.get("cols") or {}).items():
            text = re.sub(rf"\b{name}\b", f"<{definition or name}>".replace("\\", r"\\"), text)
        print(f"{case['fn']}: {text} => {difference}{' (disagrees)' if 'disagrees' in case else ''}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "*")
