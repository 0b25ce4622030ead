"""Procedures in Python: CALL answers as Flink 2.3 did for the procedures of its TestProcedureCatalogFactory."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest

from scurry.common import Row
from scurry.datastream import StreamExecutionEnvironment
from scurry.errors import (
    ArgumentTypeError,
    CatalogError,
    DatabaseNotExistError,
    TypeMismatchError,
    UnsupportedError,
    ValidationError,
)
from scurry.table import DataTypes, EnvironmentSettings, ResultKind, StreamTableEnvironment, TableEnvironment
from scurry.table.catalog import ObjectPath, Procedure, ProcedureContext, procedure_hint

INT = DataTypes.INT().not_null()


class GenerateSequence(Procedure):
    @procedure_hint(input=[INT], output=DataTypes.BIGINT().not_null())
    def call(self, context: ProcedureContext, n: int) -> Any:
        return range(n)

    @procedure_hint(input=[INT, DataTypes.STRING()], output="BIGINT NOT NULL")
    def call_with_mode(self, context: ProcedureContext, n: int, run_time_mode: str) -> Any:
        raise KeyError(f"no mode {run_time_mode}")


class Sum(Procedure):
    @procedure_hint(input=["DECIMAL(10, 2)"], output="ROW<sum_value DECIMAL(10, 2), `count` INT>")
    def call(self, context: ProcedureContext, *inputs: Any) -> Any:
        return [Row(sum(inputs) if inputs else None, len(inputs))]


def get_year(context: ProcedureContext, *timestamps: datetime.datetime) -> list[str]:
    return [str(each.year) for each in timestamps]


@dataclass
class User:
    name: str
    age: int


@procedure_hint(input=["STRING", "INT"])
def generate_user(context: ProcedureContext, name: str, age: int) -> list[User]:
    return [User(name, age)]


@procedure_hint(input=["STRING", "INT"])
def named_args(context: ProcedureContext, c: str, d: int) -> list[str]:
    return [f"{c}, {d}"]


@procedure_hint(input=["STRING", "INT"])
def named_args_optional(context: ProcedureContext, c: str | None = None, d: int | None = None) -> Iterator[str]:
    yield f"{c}, {d}"


class Overloaded(Procedure):
    @procedure_hint(input=["STRING", "INT"])
    def call(self, context: ProcedureContext, c: str, d: int) -> list[str]:
        return [f"{c}, {d}"]

    def call_with_texts(self, context: ProcedureContext, c: str, d: str) -> list[str]:
        return [f"{c}: {d}"]


def settings(context: ProcedureContext) -> list[str]:
    return [context.get_table_environment().get_config().get("pipeline.name", "none")]


def one_value(context: ProcedureContext, n: int) -> int:
    return n + 1


PROCEDURES = {
    "generate_n": GenerateSequence(),
    "sum_n": Sum(),
    "get_year": get_year,
    "generate_user": generate_user,
    "named_args": named_args,
    "named_args_optional": named_args_optional,
    "named_args_overload": Overloaded(),
    "settings": settings,
    "one_value": one_value,
}


@pytest.fixture(params=["streaming", "batch"])
def t_env(request: pytest.FixtureRequest) -> TableEnvironment:
    made = TableEnvironment.create(getattr(EnvironmentSettings, f"in_{request.param}_mode")())
    made.get_config().set("scurry.runner", "local")
    made.execute_sql("CREATE CATALOG c WITH ('type' = 'generic_in_memory')")
    made.execute_sql("CREATE DATABASE c.`system`")
    made.use_catalog("c")
    for name, procedure in PROCEDURES.items():
        made.create_procedure(f"`system`.{name}", procedure)
    return made


@pytest.mark.parametrize(
    ("call", "rows"),
    [
        ("generate_n(4)", [Row(0), Row(1), Row(2), Row(3)]),
        ("generate_n(CAST(2 AS TINYINT))", [Row(0), Row(1)]),
        ("generate_n(1+1)", [Row(0), Row(1)]),
        ("generate_n(CHAR_LENGTH('abc'))", [Row(0), Row(1), Row(2)]),
        ("generate_n(ABS(-2))", [Row(0), Row(1)]),
        ("sum_n(5.5, 1.2, 3.3)", [Row(Decimal("10.00"), 3)]),
        ("sum_n(1, 2)", [Row(Decimal("3.00"), 2)]),
        ("sum_n()", [Row(None, 0)]),
        ("get_year(timestamp '2020-02-03 04:05:06', timestamp '2021-02-03 04:05:06')", [Row("2020"), Row("2021")]),
        ("generate_user('yuxia', 18)", [Row("yuxia", 18)]),
        ("generate_user(NULL, 18)", [Row(None, 18)]),
        ("named_args(c => 'yuxia', d => 1)", [Row("yuxia, 1")]),
        ("named_args(d => 1, c => 'yuxia')", [Row("yuxia, 1")]),
        ("named_args('yuxia', 1)", [Row("yuxia, 1")]),
        ("named_args_optional(c => 'yuxia', d => 1)", [Row("yuxia, 1")]),
        ("named_args_optional(c => 'yuxia')", [Row("yuxia, None")]),
        ("named_args_optional()", [Row("None, None")]),
        ("named_args_optional('yuxia')", [Row("yuxia, None")]),
        ("named_args_optional(d => 3)", [Row("None, 3")]),
        ("named_args_overload('yuxia', 1)", [Row("yuxia, 1")]),
        ("named_args_overload('yuxia', 'b')", [Row("yuxia: b")]),
        ("one_value(2)", [Row(3)]),
    ],
)
def test_results_are_rows(t_env: TableEnvironment, call: str, rows: list[Row]) -> None:
    result = t_env.execute_sql(f"CALL `system`.{call}")
    assert result.get_result_kind() is ResultKind.SUCCESS_WITH_CONTENT
    assert result.get_job_client() is None
    assert list(result.collect()) == rows


@pytest.mark.parametrize(
    ("call", "columns"),
    [
        ("generate_n(4)", "`result` BIGINT NOT NULL"),
        ("sum_n()", "`sum_value` DECIMAL(10, 2),\n  `count` INT"),
        ("get_year()", "`result` STRING"),
        ("generate_user('a', 1)", "`name` STRING,\n  `age` BIGINT"),
    ],
)
def test_columns_are_those_of_the_results_type(t_env: TableEnvironment, call: str, columns: str) -> None:
    assert str(t_env.execute_sql(f"CALL c.`system`.{call}").get_resolved_schema()) == f"(\n  {columns}\n)"


SEQUENCE = "generate_n(n => INT NOT NULL)\n{0}generate_n(n => INT NOT NULL, run_time_mode => STRING)"
NAMED = "named_args(<CHARACTER>).\nSupported signatures are:\nnamed_args(c => STRING, d => INT)"
WRONG = "Invalid function call:\nc.system.{0}\nInvalid input arguments. Expected signatures are:\nc.system.{1}"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("generate_n('x')", WRONG.format("generate_n(CHAR(1) NOT NULL)", SEQUENCE.format("c.system."))),
        ("generate_n(2.5)", WRONG.format("generate_n(DECIMAL(2, 1) NOT NULL)", SEQUENCE.format("c.system."))),
        ("generate_n(NULL)", WRONG.format("generate_n(NULL)", SEQUENCE.format("c.system."))),
        (
            "generate_n()",
            "From line 1, column 15 to line 1, column 26: No match found for function signature generate_n().\n"
            f"Supported signatures are:\n{SEQUENCE.format('')}",
        ),
        ("generate_n(4,5,6)", "No match found for function signature generate_n(<NUMERIC>, <NUMERIC>, <NUMERIC>)."),
        ("sum_n('a')", WRONG.format("sum_n(CHAR(1) NOT NULL)", "sum_n(inputs => DECIMAL(10, 2)...)")),
        ("get_year(DATE '2020-01-01')", "c.system.get_year(timestamps => TIMESTAMP(6)...)"),
        (
            "generate_user('yuxia', 18.5)",
            WRONG.format(
                "generate_user(CHAR(5) NOT NULL, DECIMAL(3, 1) NOT NULL)", "generate_user(name => STRING, age => INT)"
            ),
        ),
        ("named_args(c => 'yuxia')", f"column 15 to line 1, column 38: No match found for function signature {NAMED}"),
        ("named_args(c => 'a', c => 'b')", NAMED),
        ("named_args(C => 'a', d => 1)", "At line 1, column 26: Param 'C' not found in function 'named_args'"),
        ("named_args('yuxia', d => 1)", "have names: all of them, or none"),
        ("named_args_overload(d => 1)", "Unsupported function signature. Function must not be overloaded or use var"),
        ("GENERATE_N(1)", "line 1, column 15 to line 1, column 27: No match found for function signature GENERATE_N("),
        ("nope('a', 1.5, DATE '2020-01-01', TRUE)", "signature nope(<CHARACTER>, <NUMERIC>, <DATE>, <BOOLEAN>)"),
        ("generate_n(x)", "At line 1, column 26: Column 'x' not found in any table"),
        ("generate_n((SELECT 1))", "are values, not queries"),
        ("generate_n(4, 'a')", "The call method caused an error: KeyError: 'no mode a'"),
    ],
)  # fmt: skip
def test_mistakes_are_refused(t_env: TableEnvironment, call: str, message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        t_env.execute_sql(f"CALL `system`.{call}")
    assert message in str(caught.value)


@pytest.mark.parametrize("name", ["generate_n", "nodb.generate_n", "nocat.`system`.generate_n"])
def test_procedures_are_found_by_their_full_name(t_env: TableEnvironment, name: str) -> None:
    with pytest.raises(ValidationError, match=r"No match found for function signature generate_n\(<NUMERIC>\)"):
        t_env.execute_sql(f"CALL {name}(1)")


@pytest.mark.parametrize(
    ("rest", "names"),
    [
        ("IN `system` LIKE 'gen%'", ["generate_n", "generate_user"]),
        ("FROM c.`system` ILIKE 'GENERATE\\_N'", ["generate_n"]),
        ("IN `system` LIKE 'GEN%'", []),
        ("IN `system` NOT LIKE '%\\_%'", ["settings"]),
        ("IN `system` NOT ILIKE '%N%'", ["get_year"]),
        ("IN `system`", sorted(PROCEDURES)),
        ("", []),
    ],
)
def test_show_procedures(t_env: TableEnvironment, rest: str, names: list[str]) -> None:
    result = t_env.execute_sql(f"SHOW PROCEDURES {rest}")
    assert result.get_resolved_schema().get_column_names() == ["procedure name"]
    assert list(result.collect()) == [Row(name) for name in names]


@pytest.mark.parametrize(
    ("scope", "message"),
    [
        ("nodb", "Fail to show procedures because the Database `nodb` to show from/in does not exist in Catalog `c`."),
        ("nocat.db", "Catalog nocat does not exist"),
        ("a.b.c", r"SHOW PROCEDURES from/in identifier \[ a.b.c \] format error, it should be"),
    ],
)
def test_show_procedures_of_what_there_is_not(t_env: TableEnvironment, scope: str, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        t_env.execute_sql(f"SHOW PROCEDURES IN {scope}")


@pytest.mark.parametrize(
    "statement", ["CALL p(nofunc(1))", "CALL nodb.p()", "SHOW PROCEDURES", "SHOW PROCEDURES IN nodb"]
)
def test_a_catalog_without_procedures_is_refused(t_env: TableEnvironment, statement: str) -> None:
    t_env.use_catalog("default_catalog")
    with pytest.raises(UnsupportedError, match="Procedures? is not implemented"):
        t_env.execute_sql(statement)


def test_the_context_has_the_environment(t_env: TableEnvironment) -> None:
    t_env.execute_sql("USE `system`")
    t_env.get_config().set("pipeline.name", "value")
    assert list(t_env.execute_sql("CALL settings()").collect()) == [Row("value")]


def test_the_context_has_the_environment_of_streams() -> None:
    def parallelism(context: ProcedureContext) -> list[int]:
        return [context.get_execution_environment().get_parallelism()]

    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(3)
    t_env = StreamTableEnvironment.create(env)
    t_env.create_procedure("p", parallelism)
    assert list(t_env.execute_sql("CALL p()").collect()) == [Row(3)]


def test_an_environment_without_streams_says_so(t_env: TableEnvironment) -> None:
    with pytest.raises(UnsupportedError, match=r"StreamTableEnvironment\.create\(env\)"):
        ProcedureContext(t_env).get_execution_environment()


def test_catalogs_list_and_return_procedures(t_env: TableEnvironment) -> None:
    catalog = t_env.get_catalog("c")
    assert catalog is not None
    assert catalog.list_procedures("system") == sorted(PROCEDURES)
    assert catalog.get_procedure(ObjectPath("system", "sum_n")) is PROCEDURES["sum_n"]
    with pytest.raises(CatalogError, match=r"Procedure system\.nope does not exist in Catalog c"):
        catalog.get_procedure(ObjectPath("system", "nope"))
    with pytest.raises(DatabaseNotExistError):
        catalog.list_procedures("nodb")


def test_procedures_are_created_once_and_dropped(t_env: TableEnvironment) -> None:
    with pytest.raises(CatalogError, match=r"Procedure system\.sum_n already exists"):
        t_env.create_procedure("`system`.sum_n", get_year)
    t_env.create_procedure("`system`.sum_n", get_year, ignore_if_exists=True)
    assert list(t_env.execute_sql("CALL `system`.sum_n()").collect()) == [Row(None, 0)]
    assert t_env.drop_procedure("`system`.sum_n")
    assert not t_env.drop_procedure("`system`.sum_n")


def without_result(context: ProcedureContext, n: int):  # type: ignore[no-untyped-def]  # noqa: ANN201
    return []


def without_type(context: ProcedureContext, n) -> list[int]:  # type: ignore[no-untyped-def]  # noqa: ANN001
    return []


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        (5, "expected a Procedure with a method 'call', or a function, got 5"),
        (Procedure(), "expected a Procedure with a method 'call'"),
        (without_result, "the result needs an annotation"),
        (without_type, "argument 'n' needs an annotation of its type"),
    ],
)
def test_a_procedure_says_its_types(t_env: TableEnvironment, declared: Any, message: str) -> None:
    with pytest.raises(ArgumentTypeError, match=message):
        t_env.create_procedure("p", declared)


def test_a_result_that_does_not_fit_is_refused(t_env: TableEnvironment) -> None:
    @procedure_hint(output="INT")
    def wrong(context: ProcedureContext) -> Any:
        return ["x"]

    t_env.create_procedure("`system`.wrong", wrong)
    with pytest.raises(TypeMismatchError, match="'x'"):
        t_env.execute_sql("CALL `system`.wrong()")
