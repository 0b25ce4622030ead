"""Expressions over columns of every type have the result types and names that PyFlink 2.3.0 recorded.

Each line of `result_types.txt` is an expression and the column that `Table.select` makes of it. Table `t` has a column
of each type in `COLUMNS`, and one that is NOT NULL with `0` behind its name.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scurry.table import DataTypes, EnvironmentSettings, Table, TableEnvironment, expression, expressions

RECORDED = Path(__file__).parent.parent / "fixtures" / "table_api" / "result_types.txt"
COLUMNS = {
    "bo": "BOOLEAN", "ti": "TINYINT", "si": "SMALLINT", "i": "INT", "l": "BIGINT", "f": "FLOAT", "d": "DOUBLE",
    "dec": "DECIMAL(10, 2)", "dz": "DECIMAL(20, 0)", "c": "CHAR(3)", "vc": "VARCHAR(5)", "s": "STRING",
    "bi": "BINARY(2)", "vb": "VARBINARY(4)", "by": "BYTES", "dt": "DATE", "tm": "TIME", "ts": "TIMESTAMP(3)",
    "ts9": "TIMESTAMP(9)", "lz": "TIMESTAMP_LTZ(3)", "ai": "ARRAY<INT>", "as_": "ARRAY<STRING>",
    "an": "ARRAY<INT NOT NULL>", "ad": "ARRAY<DOUBLE>", "m": "MAP<STRING, INT>", "ms": "MULTISET<STRING>",
    "r": "ROW<x INT, y STRING>", "aab": "ARRAY<BYTES>",
}  # fmt: skip
NAMES: dict[str, Any] = {
    **{name: getattr(module, name) for module in (expression, expressions) for name in module.__all__},
    "DataTypes": DataTypes,
}


def columns_of_every_type() -> Table:
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    env.get_config().set("scurry.runner", "local")
    columns = ", ".join(f"`{name}` {kind}, `{name}0` {kind} NOT NULL" for name, kind in COLUMNS.items())
    env.execute_sql(f"CREATE TABLE t ({columns}) WITH ('connector' = 'datagen')")
    return env.from_path("t")


def test_expressions_have_flinks_result_types() -> None:
    table = columns_of_every_type()
    recorded = dict(line.split(" -> ") for line in RECORDED.read_text().splitlines())
    assert len(recorded) > 2000
    found = {}
    for code in recorded:
        schema = str(table.select(eval(code, dict(NAMES))).get_schema())
        found[code] = schema.removeprefix("root\n |-- ").rstrip("\n")
    assert found == recorded
