"""Every built-in function of Flink is there, or is known not to be one of SQL."""

from __future__ import annotations

from pathlib import Path

from scurry.sql.functions.aggregate.catalogue import lookup_aggregate
from scurry.sql.functions.catalogue import lookup

#: The SQL names in BuiltInFunctionDefinitions of Flink 2.3 that are not internal, recorded through PyFlink.
NAMES = (Path(__file__).parent / "flink_functions.txt").read_text(encoding="utf-8").splitlines()

#: Parts of expressions of the Table API and of its windows, which SQL writes otherwise: BETWEEN, x AS y, ORDER BY ...
OF_THE_TABLE_API = {
    "AS", "ASC", "AT", "BETWEEN", "CURRENTDATABASE", "DESC", "DISTINCT", "FLATTEN", "GET", "IFTHENELSE", "IN",
    "IS_JSON", "LOWERCASE", "NOTBETWEEN", "OVER", "RANGETO", "REINTERPRET_CAST", "ROWTIME", "STREAMRECORDTIMESTAMP",
    "SUM0", "TEMPORALOVERLAPS", "UPPERCASE", "WITHCOLUMNS", "WITHOUTCOLUMNS", "window_end", "window_start",
}  # fmt: skip

#: What planner rules and statements call: sums of decimals, the value of an INSERT's missing column.
OF_THE_PLANNER = {"AGG_DECIMAL_PLUS", "ASSIGNMENT", "DEFAULT", "HIVE_AGG_DECIMAL_PLUS"}

#: Table functions of changelogs, which FROM has.
OF_FROM = {"FROM_CHANGELOG", "TO_CHANGELOG"}

#: Table functions of models, which are not there yet.
MISSING = {"ML_PREDICT"}


def test_every_function_of_sql_is_found() -> None:
    known = {name for name in NAMES if lookup(name) is not None or lookup_aggregate(name) is not None}
    assert set(NAMES) - known == OF_THE_TABLE_API | OF_THE_PLANNER | OF_FROM | MISSING
