# mypy: ignore-errors
"""The methods of PyFlink's Table API, called one after another, and what they answer.

Each `*.txt` here is a script of groups, a group for some classes. Its lines run in order, for PyFlink and scurry alike:
`cd tests && python -m support.method_calls FILE` with PyFlink writes what it answers.
"""

from __future__ import annotations

import ast
import datetime
import decimal
import enum
import importlib
import io
import pickle
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

__all__ = ["answers", "groups"]

HERE = Path(__file__).parent
_MODULES = (
    "common", "table", "table.catalog", "table.changelog_mode", "table.data_view", "table.environment_settings",
    "table.explain_detail", "table.expressions", "table.model_descriptor", "table.module", "table.plan_reference",
    "table.result_kind", "table.sql_dialect", "table.table_config", "table.table_schema", "table.types", "table.window",
)  # fmt: skip


#: what PyFlink hands over as it comes from Java
_OF_JAVA: dict[str, Any] = {"JavaMap": dict, "JavaList": list, "JavaArray": list, "JavaObject": str}


def groups() -> dict[str, list[str]]:
    """Return the lines of each group."""
    found: dict[str, list[str]] = {}
    for script in sorted(HERE.glob("*.txt")):
        for line in script.read_text().splitlines():
            if line.startswith("# "):
                lines = found.setdefault(line[2:], [])
            elif line:
                lines.append(line)
    return found


def answers(group: str, directory: Path) -> Iterator[tuple[str, Any]]:
    """Run the lines of a group, and yield each with what it answers if it is an expression."""
    names = _names(directory)
    for line in groups()[group]:
        if isinstance(ast.parse(line).body[0], ast.Expr):
            yield line, _answer(line, names)
        else:
            try:
                exec(line, names)
            except Exception as raised:
                yield line, _raised(raised)


def _answer(line: str, names: dict[str, Any]) -> Any:
    printed = io.StringIO()
    try:
        with redirect_stdout(printed):
            value = shown(eval(line, names))
    except Exception as raised:
        return _raised(raised)
    return {"printed": printed.getvalue()} if printed.getvalue() and "explain" not in line else value


def _raised(raised: Exception) -> dict[str, Any]:
    kinds = [kind.__name__ for kind in type(raised).__mro__ if kind not in (Exception, BaseException, object)]
    return {"raises": kinds, "says": " ".join(str(raised).strip().split("\n")[:2])[:300]}


def shown(value: Any) -> Any:
    """Return a value as JSON, with the class of what is not plain data, and its text if the class gives it one."""
    if type(value).__name__ in _OF_JAVA:
        value = _OF_JAVA[type(value).__name__](value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, dict):
        return {"dict": sorted([[shown(key), shown(each)] for key, each in value.items()], key=str)}
    if type(value) in (list, tuple, set):
        return [shown(each) for each in value]
    if isinstance(value, bytes | bytearray | datetime.date | datetime.time | datetime.timedelta | decimal.Decimal):
        return repr(value)
    if isinstance(value, enum.Enum):
        return str(value)
    has_text = type(value).__str__ is not object.__str__ or type(value).__repr__ is not object.__repr__
    return {"class": type(value).__name__, "text": str(value) if has_text else None}


def _names(directory: Path) -> dict[str, Any]:
    """Return what the lines may name: PyFlink's modules, an environment with some tables, some functions."""
    import pandas

    names: dict[str, Any] = {
        "datetime": datetime, "decimal": decimal, "pandas": pandas, "pickle": pickle, "rows_of": rows_of, "conf": conf,
    }  # fmt: skip
    for module in _MODULES:
        try:
            found = vars(importlib.import_module(f"pyflink.{module}"))
        except ImportError:
            continue
        names.update((name, each) for name, each in found.items() if not name.startswith("_") and name not in names)
    names.update(_functions())
    names.update(_tables(directory))
    return names


def conf(key: str, value: str) -> Any:
    """Return a configuration with one entry."""
    from pyflink.common import Configuration

    made = Configuration()
    made.set_string(key, value)
    return made


def rows_of(table: Any) -> list[str]:
    """Return the rows of a table with their kinds, sorted."""
    with table.execute().collect() as found:
        return sorted(f"{row.get_row_kind()}{tuple(row)}" for row in found)


def _functions() -> dict[str, Any]:
    from pyflink.common import Row
    from pyflink.table import AggregateFunction, DataTypes, TableAggregateFunction
    from pyflink.table.udf import udaf, udf, udtaf, udtf

    class Total(AggregateFunction):
        def create_accumulator(self):
            return [0]

        def accumulate(self, accumulator, value):
            accumulator[0] += value

        def get_value(self, accumulator):
            return accumulator[0]

    class Top2(TableAggregateFunction):
        def create_accumulator(self):
            return []

        def accumulate(self, accumulator, value):
            accumulator[:] = sorted([*accumulator, value], reverse=True)[:2]

        def emit_value(self, accumulator):
            for value in accumulator:
                yield Row(value)

    pair = DataTypes.ROW([DataTypes.FIELD("p", DataTypes.INT()), DataTypes.FIELD("q", DataTypes.STRING())])
    value = DataTypes.ROW([DataTypes.FIELD("v", DataTypes.BIGINT())])

    def as_pair(*values):
        return Row(*(values[0] if len(values) == 1 else values)[:2])

    def as_twice(value):
        return [(value if isinstance(value, int) else value[0],)] * 2

    return {
        "double": udf(lambda i: i * 2, result_type=DataTypes.INT()),
        "pair": udf(as_pair, result_type=pair),
        "twice": udtf(as_twice, result_types=[DataTypes.INT()]),
        "total": udaf(Total(), result_type=DataTypes.BIGINT(), accumulator_type=DataTypes.ARRAY(DataTypes.BIGINT())),
        "top2": udtaf(Top2(), result_type=value, accumulator_type=DataTypes.ARRAY(DataTypes.BIGINT())),
    }  # fmt: skip


def _tables(directory: Path) -> dict[str, Any]:
    from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment

    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    env.get_config().set("parallelism.default", "1").set("table.local-time-zone", "UTC")
    file = directory / "timed.csv"
    events = [("a", 1, 1), ("b", 2, 3), ("a", 3, 9), ("a", 4, 12), ("b", 5, 25), ("a", 6, 31)]
    file.write_text("".join(f"{k},{v},2024-01-01 00:{minute:02d}:00\n" for k, v, minute in events))
    env.execute_sql(
        "CREATE TABLE timed (k STRING, v INT NOT NULL, t TIMESTAMP(3), c AS v + 1, "
        "WATERMARK FOR t AS t - INTERVAL '1' SECOND) "
        f"WITH ('connector' = 'filesystem', 'path' = '{file}', 'format' = 'csv')"
    )
    env.execute_sql(
        f"CREATE TABLE sink (id INT) WITH ('connector' = 'filesystem', 'path' = '{directory}/sink', 'format' = 'csv')"
    )
    fields = [("id", DataTypes.INT()), ("name", DataTypes.STRING()), ("x", DataTypes.DOUBLE())]
    pairs = [("k", DataTypes.INT()), ("v", DataTypes.STRING())]
    items = DataTypes.ROW([DataTypes.FIELD(*each) for each in fields])
    others = DataTypes.ROW([DataTypes.FIELD(*each) for each in pairs])
    return {
        "env": env,
        "items": env.from_elements([(1, "a", 5.0), (2, "b", 2.5), (3, "a", 1.0)], items),
        "others": env.from_elements([(1, "one"), (2, "two"), (5, None)], others),
        "timed": env.from_path("timed"),
    }
