"""Types of expressions against those that real Flink infers: how many are the same, which may only rise."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scurry.errors import ScurryError
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.syntax.parser import parse
from scurry.sql.types import LocalZonedTimestampType, TimeAttribute, TimestampType
from scurry.sql.validator import CatalogColumn, CatalogTable, data_type, validate_query
from scurry.sql.validator.catalog import CatalogReader
from support.conformance import CONFORMANCE

CORPUS = CONFORMANCE / "sql" / "types"
STREAMING = EvaluationContext(is_streaming=True)


class OneTable(CatalogReader):
    """The table of all types that the expressions were recorded over."""

    def __init__(self) -> None:
        script = (CORPUS / "record_types.py").read_text(encoding="utf-8")
        table: Any = parse(script[script.index("CREATE TABLE t (") :].split('""")')[0])
        columns = []
        for each in table.schema.columns:
            name = each.name.last
            if not hasattr(each, "type"):
                proctime = LocalZonedTimestampType(3, False).as_time_attribute(TimeAttribute.PROCTIME)
                columns.append(CatalogColumn(name, proctime, each.expression))
                continue
            kind = data_type(each.type)
            if name == "rt":
                assert isinstance(kind, TimestampType)
                kind = kind.as_time_attribute(TimeAttribute.ROWTIME)
            columns.append(CatalogColumn(name, kind))
        self._table = CatalogTable(("catalog", "database", "t"), tuple(columns), None)

    def find(self, names: tuple[str, ...]) -> CatalogTable | None:
        return self._table if names == ("t",) else None

    def missing(self, names: tuple[str, ...]) -> tuple[int, str]:
        return 1, f"Object '{names[-1]}' not found"


def difference(case: dict[str, Any], table: OneTable) -> str | None:
    columns = [[name, shown] for name, _, shown in case.get("columns", ())]
    wanted: Any = columns or case["error"]
    try:
        plan = validate_query(parse(case["sql"]), table, STREAMING)  # type: ignore[arg-type]
    except ScurryError as error:
        refused = "error" in case and wanted.split(": ", 1)[-1][:60] in str(error)
        return None if refused else f"{case['sql']}: {error} instead of {wanted}"
    got = [[each.name, each.type.as_summary_string()] for each in plan.schema]
    return None if got == wanted else f"{case['sql']}: {got} instead of {wanted}"


@pytest.mark.skipif(not CORPUS.exists(), reason=f"needs the recorded types in {CORPUS}")
def test_types_are_those_of_flink() -> None:
    table = OneTable()
    with (CORPUS / "public.jsonl").open(encoding="utf-8") as lines:
        differences = [difference(json.loads(line), table) for line in lines]
    met = differences.count(None)
    assert met >= 219, "\n".join(each for each in differences if each is not None)
