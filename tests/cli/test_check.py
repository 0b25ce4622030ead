"""`scurry check`: what it finds in programs without running them, and that it leaves right programs alone."""

from __future__ import annotations

import json
import re
from pathlib import Path
from textwrap import dedent

import pytest
from typer.testing import CliRunner

from scurry.cli.checking.findings import Finding, Level
from scurry.cli.checking.programs import check_program
from scurry.cli.checking.statements import check_script
from scurry.cli.commands import app

ROOT = Path(__file__).parents[2]
CONFORMANCE = ROOT.parent / "shared" / "conformance"
PAGE = ROOT / "docs" / "check.md"

ENV = """\
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import EnvironmentSettings, StreamTableEnvironment, TableEnvironment
env = StreamExecutionEnvironment.get_execution_environment()
t_env = StreamTableEnvironment.create(env)
"""


def found(text: str, before: str = ENV) -> list[tuple[int, int, Level, str]]:
    """Return the findings behind the lines of an environment: line, column, level, text."""
    lines = before.count("\n")
    findings = check_program(before + dedent(text), "job.py")
    return [(each.line - lines, each.column, each.level, each.text) for each in findings]


def errors(findings: list[Finding]) -> list[Finding]:
    return [each for each in findings if each.level == Level.ERROR]


# ---------------------------------------------------------------- programs that run


#: Without models of dbt, which are templates.
RIGHT = [
    file
    for kind in ("*.py", "*.sql")
    for file in sorted((ROOT / "examples").rglob(kind))
    if ROOT / "examples" / "dbt" not in file.parents
]


@pytest.mark.parametrize("file", RIGHT, ids=lambda file: str(file.relative_to(ROOT)))
def test_nothing_of_an_example_is_an_error(file: Path) -> None:
    check = check_script if file.suffix == ".sql" else check_program
    assert errors(list(check(file.read_text("utf-8"), file.name))) == []


@pytest.mark.skipif(not CONFORMANCE.exists(), reason="the recorded programs of Flink are not here")
def test_nothing_of_a_conformance_program_is_an_error() -> None:
    files = sorted((CONFORMANCE / "public").rglob("*.py"))
    assert len(files) == 100
    assert [each for file in files for each in errors(check_program(file.read_text("utf-8"), str(file)))] == []


@pytest.mark.skipif(not CONFORMANCE.exists(), reason="the wrong statements of Flink are not here")
def test_statements_that_flink_refuses_are_found_in_their_line() -> None:
    missed, cases = [], json.loads((CONFORMANCE / "sql" / "errors" / "public.json").read_text("utf-8"))
    for case in cases:
        mode = f"SET 'execution.runtime-mode' = '{case['mode']}';\n"
        statements = [each.replace("{tmp}", "/nowhere") for each in case["statements"]]
        lines = [each.line for each in check_script(mode + "".join(f"{each};\n" for each in statements), "x.sql")]
        last = 2 + sum(each.count("\n") + 1 for each in statements[:-1])
        if case.get("stage") in ("statement", "plan") and not any(line >= last for line in lines):
            missed.append(case["name"])
        elif case.get("stage") not in ("statement", "plan"):
            assert lines == [], case["name"]
    # an empty statement is none, changes are only parsed, and an unknown connector is found where the table is made
    assert missed == ["syntax_empty", "delete_streaming", "update_batch", "unknown_connector"]


# ---------------------------------------------------------------- names


def test_a_name_that_a_module_lacks_has_a_similar_one() -> None:
    assert found("from pyflink.datastream.connectors.kafka import KafkaSorce\n", "") == [
        (1, 49, Level.ERROR, "pyflink.datastream.connectors.kafka has no KafkaSorce; did you mean 'KafkaSource'?")
    ]


def test_a_name_of_an_earlier_pyflink_has_its_replacement() -> None:
    ((_, _, level, text),) = found("from pyflink.datastream import TimeCharacteristic\n", "")
    assert level == Level.ERROR and "leave it out: time is event time" in text


def test_a_module_of_java_is_not_there() -> None:
    ((_, _, level, text),) = found("from pyflink.java_gateway import get_gateway\n", "")
    assert level == Level.ERROR and "no Java runs behind scurry's API" in text


@pytest.mark.parametrize(
    "line",
    [
        "env.from_collection([1]).key_byy(lambda v: v)",
        "numbers = env.from_collection([1])\nnumbers.map(lambda v: v).key_byy(lambda v: v)",
        "def part(numbers: DataStream):\n    numbers.key_byy(lambda v: v)",
        "with env.from_collection([1]).execute_and_collect() as rows:\n    env.from_collection([2]).key_byy(None)",
    ],
)
def test_a_method_is_looked_up_in_the_kind_of_its_object(line: str) -> None:
    ((_, column, level, text),) = found(line, ENV + "from pyflink.datastream import DataStream\n")
    assert (level, text) == (Level.ERROR, "DataStream has no key_byy; did you mean key_by?")
    assert line.splitlines()[-1].index("key_byy") == column - 1


@pytest.mark.parametrize(
    "line",
    [
        "def part(numbers):\n    numbers.key_byy(1)",
        "class Own:\n    key_byy = 1\nOwn().key_byy",
        "numbers = env.from_collection([1])\nnumbers = whatever(numbers)\nnumbers.key_byy",
        "env.execute_async().query_state('a', 'b', 1)",
        "t_env.from_elements([(1,)], ['id']).id",
    ],
)
def test_nothing_is_said_of_an_object_of_unknown_kind(line: str) -> None:
    assert found(line) == []


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "EnvironmentSettings.new_instance().in_streaming_mode().use_blink_planner()",
            "Builder has no use_blink_planner",
        ),
        (
            "env.from_collection([1]).key_by(str).map(str).count_window(2)",
            "DataStream has no count_window: call key_by",
        ),
        ("t_env.from_data_stream(env.from_collection([1]), schema=['a'])", "from_data_stream has no argument schema"),
        ("env.from_collection([1]).map(str, output_typ=None)", "map has no argument output_typ; did you mean"),
        ("FlinkKafkaConsumer('t', None, {})", "FlinkKafkaConsumer is not in Flink 2 any more"),
    ],
)
def test_calls_that_fail_are_found(line: str, said: str) -> None:
    before = ENV + "from pyflink.datastream.connectors.kafka import FlinkKafkaConsumer\n"
    ((_, _, level, text),) = found(line, before)
    assert level == Level.ERROR and text.startswith(said)


@pytest.mark.parametrize(
    "line",
    [
        "env.from_collection([1]).key_by(str).count_window(2)",
        "env.from_collection([1]).map(func=str, output_type=None)",
        "def part(keyed: DataStream):\n    keyed.count_window(2)",
        "env.from_collection([1]).map(**options)",
    ],
)
def test_calls_that_do_not_fail_are_left_alone(line: str) -> None:
    assert found(line, ENV + "from pyflink.datastream import DataStream\n") == []


def test_objects_of_java_are_not_there() -> None:
    ((_, _, _, text),) = found("t_env._j_tenv.getConfig()")
    assert text == "StreamTableEnvironment has no _j_tenv: there are no objects of Java behind scurry's API"


def test_methods_without_effect_are_noted() -> None:
    assert [
        each[2:]
        for each in found("env.get_config().set_latency_tracking_interval(5)\nenv.add_jars('file:///kafka.jar')")
    ] == [
        (Level.NOTE, "set_latency_tracking_interval has no effect here"),
        (Level.NOTE, "add_jars: jars are not loaded: connectors are built in, see `pipeline.jars`."),
    ]


def test_a_program_that_is_none_is_an_error() -> None:
    ((line, _, level, text),) = found("def f(:\n", "")
    assert (line, level) == (1, Level.ERROR) and text.startswith("this is no Python")


# ---------------------------------------------------------------- keys


def test_keys_and_their_values_are_checked() -> None:
    assert [each[1:] for each in found(
        """\
        t_env.get_config().set("table.exec.mini-bach.enabled", "true")
        t_env.get_config().set("table.exec.mini-batch.size", "many")
        """
    )] == [
        (24, Level.ERROR, "configuration table.exec.mini-bach.enabled is unknown: did you mean "
         "table.exec.mini-batch.enabled?"),
        (24, Level.ERROR, "Could not parse value 'many' for key 'table.exec.mini-batch.size'."),
    ]  # fmt: skip


def test_keys_without_effect_are_noted() -> None:
    ((_, _, level, text),) = found(
        'c = Configuration()\nc.set_string("yarn.queue", "q")', "from pyflink.common import *\n"
    )
    assert level == Level.NOTE and "set spark.master and spark.yarn.*" in text


# ---------------------------------------------------------------- statements


def test_a_statement_is_validated_against_those_before_it() -> None:
    assert found(
        '''\
        t_env.execute_sql("CREATE TABLE orders (id INT) WITH ('connector' = 'datagen')")
        t_env.sql_query("""
            SELECT ide
            FROM orders
        """)
        '''
    ) == [(3, 12, Level.ERROR, "Column 'ide' not found in any table; did you mean 'id'?")]


def test_tables_that_the_program_defines_otherwise_are_left_alone() -> None:
    assert found("t_env.create_temporary_view('v', table)\nt_env.sql_query('SELECT a FROM v')") == []
    assert len(found("t_env.sql_query('SELECT a FROM v')")) == 1


def test_a_connector_that_there_is_not_is_found_where_it_is_named() -> None:
    ((line, column, _, text),) = found("t_env.execute_sql(\"CREATE TABLE t (a INT) WITH ('connector' = 'hbase-2.2')\")")
    assert (line, column) == (1, 64) and text.startswith("there is no connector 'hbase-2.2'; there are blackhole, ")


def test_statements_that_may_fail_are_left_alone() -> None:
    assert found("try:\n    t_env.sql_query('SELEC 1')\nexcept Exception:\n    pass") == []


def test_statements_of_batch_are_planned_in_batch() -> None:
    before = ENV + "b_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())\n"
    text = "b_env.sql_query('SELECT * FROM (VALUES (2), (1)) AS t (a) ORDER BY a')"
    assert found(text, before) == []
    ((_, _, _, said),) = found(text.replace("b_env", "t_env"))
    assert said.startswith("Sort on a non-time-attribute field is not supported")


@pytest.mark.parametrize(("statement", "doubted"), [("UPDATE t SET a = 1", False), ("LOAD MODULE m", True)])
def test_names_behind_a_statement_that_is_only_parsed_are_looked_up(statement: str, doubted: bool) -> None:
    table = "CREATE TABLE t (a INT) WITH ('connector' = 'blackhole')"
    lines = [each.line for each in check_script(f"{table};\n{statement};\nSELECT b FROM nowhere;\n", "x.sql")]
    assert lines == ([] if doubted else [3])


@pytest.mark.parametrize(
    "around",
    [
        "EXECUTE INSERT INTO s {}",
        "EXPLAIN CHANGELOG_MODE INSERT INTO s {}",
        "EXECUTE STATEMENT SET BEGIN\nINSERT INTO s SELECT a FROM t;\nINSERT INTO s {};\nEND",
        "COMPILE PLAN '/p.json' FOR INSERT INTO s {}",
        "EXPLAIN /* all */ (SELECT a FROM t) UNION ALL ({})",
    ],
)
def test_a_name_is_found_missing_where_it_stands_within_other_statements(around: str) -> None:
    connectors = {"t": "datagen", "s": "blackhole"}
    tables = [f"CREATE TABLE {name} (a INT) WITH ('connector' = '{each}');\n" for name, each in connectors.items()]
    text = "".join(tables) + around.format("SELECT ab FROM t")
    (finding,) = check_script(text, "x.sql")
    at = text[: text.index("ab FROM")]
    assert (finding.line, finding.column) == (at.count("\n") + 1, len(at.rpartition("\n")[2]) + 1)


def test_a_compiled_plan_may_be_executed() -> None:
    assert list(check_script("EXECUTE PLAN '/plans/p.json'", "x.sql")) == []


def test_options_in_a_script_are_checked() -> None:
    (finding,) = check_script("SET 'table.exec.mini-batch.size' = 'many';\n", "x.sql")
    assert (finding.line, finding.level) == (1, Level.ERROR)


TABLE = "CREATE TABLE orders (id INT) WITH ('connector' = 'datagen')"


@pytest.mark.parametrize(
    "lines",
    [
        'query = "SELECT ide FROM orders"\nt_env.sql_query(query)',
        'query = "SELECT 1"\nquery = "SELECT ide FROM orders"\nt_env.sql_query(query)',
        'name = "orders"\nt_env.sql_query(f"SELECT ide FROM {name}")',
        't_env.sql_query("SELECT ide " + "FROM orders")',
        'query = "SELECT ide"\nquery = query + " FROM orders"\nt_env.sql_query(query)',
        'table = "orders"\nquery = f"SELECT ide FROM {table}"\ntable = "other"\nt_env.sql_query(query)',
        'one = "SELECT ide FROM orders"\nother = one\none = other\nt_env.sql_query(one)',
        'def part():\n    query = "SELECT ide FROM orders"\n    t_env.sql_query(query)',
        'if __name__ == "__main__":\n    query = "SELECT ide FROM orders"\n    t_env.sql_query(query)',
    ],
)
def test_a_statement_that_follows_from_the_program_is_checked(lines: str) -> None:
    ((_, _, _, text),) = found(f't_env.execute_sql("{TABLE}")\n{lines}')
    assert text == "Column 'ide' not found in any table; did you mean 'id'?"


def test_a_finding_stands_where_the_statement_is_written() -> None:
    ((line, column, _, _),) = found('query = """\nSELEC 1\n"""\nt_env.sql_query(query)')
    assert (line, column) == (2, 1)


@pytest.mark.parametrize(
    "lines",
    [
        'query = "SELEC 1"\nif whatever:\n    query = other()\nt_env.sql_query(query)',
        'query = "SELEC 1"\nquery += other()\nt_env.sql_query(query)',
        'def part(query="SELEC 1"):\n    t_env.sql_query(query)',
        'query = "SELEC 1"\ndef part():\n    t_env.sql_query(query)\nquery = "SELECT 1"\npart()',
        't_env.sql_query(f"SELECT {other()} FROM nowhere")\nt_env.sql_query("SELECT 1 FROM nowhere")',
    ],
)
def test_a_statement_that_takes_a_run_to_know_is_left_alone(lines: str) -> None:
    assert found(lines) == []


def test_functions_may_stand_in_another_order_than_they_run() -> None:
    text = f'''\
def main():
    tables()
    t_env.execute_sql("INSERT INTO sink SELECT id FROM orders")
def tables():
    t_env.execute_sql("{TABLE}")
    t_env.execute_sql("CREATE TABLE sink (id INT) WITH ('connector' = 'blackhole')")
def other():
    t_env.execute_sql("{TABLE}")
'''
    assert found(text) == []
    ((line, _, _, said),) = found(text.rpartition("def other")[0].replace("FROM orders", "FROM nowhere"))
    assert line == 3 and "Object 'nowhere' not found" in said


# ---------------------------------------------------------------- Spark


def test_streams_of_spark_have_counterparts() -> None:
    names = found(
        """\
        from pyspark.sql import SparkSession
        rows = SparkSession.builder.getOrCreate().readStream.format("kafka").load()
        rows.withWatermark("ts", "1 minute").writeStream.start().awaitTermination()
        """,
        "",
    )
    assert [(line, text.partition(":")[0]) for line, _, level, text in names if level == Level.INSTEAD] == [
        (2, "readStream"), (3, "withWatermark"), (3, "writeStream"), (3, "awaitTermination"),
    ]  # fmt: skip


def test_programs_of_spark_without_streams_are_left_alone() -> None:
    assert found("from pyspark.sql.functions import window\nwindow('a', '1 day')\n", "") == []


# ---------------------------------------------------------------- the command


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["check", *arguments])
    return result.exit_code, result.output


def test_a_directory_is_checked_and_the_status_tells_of_errors(tmp_path: Path) -> None:
    (tmp_path / "right.py").write_text("from pyflink.common import Types\n")
    assert run(str(tmp_path)) == (0, "1 file, nothing found\n")
    (tmp_path / "wrong.sql").write_text("SELECT 1;\nSELEC 2;\n")
    status, printed = run(str(tmp_path))
    assert status == 1 and f"{tmp_path}/wrong.sql:2:1: error: Non-query expression" in printed
    assert printed.endswith("2 files, 1 line that does not run\n")


def test_findings_are_json(tmp_path: Path) -> None:
    (tmp_path / "wrong.sql").write_text("SELEC 2;\n")
    status, printed = run("--json", str(tmp_path))
    assert status == 1
    ((finding),) = json.loads(printed)
    assert (finding["line"], finding["level"]) == (1, "error")


def test_the_page_shows_what_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = PAGE.read_text("utf-8")
    (program,) = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (expected,) = re.findall(r"^```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    Path("job.py").write_text(program, "utf-8")
    assert run("job.py") == (1, expected)
