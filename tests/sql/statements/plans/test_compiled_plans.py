"""Compiled plans execute as they were compiled, and go on from savepoints of each other."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scurry.errors import ScurryError, UnsupportedError, ValidationError
from scurry.sql.planner import rules
from scurry.sql.statements.compiled.encoding import node_types
from scurry.state import SavepointReader
from scurry.table import (
    CompiledPlan,
    DataTypes,
    EnvironmentSettings,
    PlanReference,
    Schema,
    TableDescriptor,
    TableEnvironment,
)
from scurry.table.udf import udf
from support.statements.operator_queries import QUERIES, SETTINGS
from support.statements.stopped_jobs import tables
from support.statements.tables import environment, files, read, until, write

GROUPED = "INSERT INTO written SELECT k, SUM(v) FROM (SELECT k, v, 1 AS c FROM t) WHERE v > 0 AND c = 1 GROUP BY k"


def session(directory: Path, **settings: str) -> TableEnvironment:
    env = environment(**settings)
    files(env, "t", "k STRING, v INT", directory / "in", **{"source.monitor-interval": "20 ms"})
    files(env, "written", "k STRING, n BIGINT", directory / "out", format="debezium-json")
    return env


def without_rules(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    kept = tuple(rule for rule in rules.RULES if rule.__name__ not in names)
    assert len(kept) == len(rules.RULES) - len(names)
    monkeypatch.setattr(rules, "RULES", kept)


def test_a_plan_is_executed_as_it_was_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    env = session(tmp_path)
    compiled = env.compile_plan_sql(GROUPED)
    without_rules(monkeypatch, "push_filters", "merge_projections", "prune_columns")
    planned_now = env.compile_plan_sql(GROUPED)
    assert planned_now._plan.sinks != compiled._plan.sinks

    def fail(*_: Any) -> None:
        raise AssertionError("a compiled plan is not planned again")

    monkeypatch.setattr("scurry.sql.statements.planning.optimized", fail)
    restored = session(tmp_path).load_plan(PlanReference.from_json_string(compiled.as_json_string()))
    assert restored._plan.sinks == compiled._plan.sinks
    write(tmp_path / "in", "f1", {"k": "a", "v": 1})
    job = restored.execute().get_job_client()
    assert job is not None
    until(lambda: len(read(tmp_path / "out")) == 1)
    job.cancel().result()


def test_a_savepoint_of_a_plan_is_restored_by_the_plan_after_the_optimiser_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session(tmp_path).compile_plan_sql(GROUPED).write_to_file(tmp_path / "plan.json")
    write(tmp_path / "in", "f1", {"k": "a", "v": 1}, {"k": "b", "v": 2})
    first: Any = session(tmp_path).execute_sql(f"EXECUTE PLAN '{tmp_path}/plan.json'").get_job_client()
    until(lambda: len(read(tmp_path / "out")) == 2)
    savepoint = str(first.stop_with_savepoint(False, str(tmp_path / "savepoints")).result())
    without_rules(monkeypatch, "push_filters", "merge_projections", "prune_columns")
    write(tmp_path / "in", "f2", {"k": "a", "v": 5})
    again = session(tmp_path, **{"execution.state-recovery.path": savepoint})
    job: Any = again.execute_sql(f"EXECUTE PLAN '{tmp_path}/plan.json'").get_job_client()
    until(lambda: {"k": "a", "n": 6} in [each["after"] for each in read(tmp_path / "out")])
    job.cancel().result()


def test_operators_are_identified_by_the_nodes_of_the_plan(tmp_path: Path) -> None:
    plan = session(tmp_path).compile_plan_sql(GROUPED)
    (number,) = (each["id"] for each in json.loads(plan.as_json_string())["nodes"] if each["type"] == "Aggregate")
    write(tmp_path / "in", "f1", {"k": "a", "v": 1})
    job: Any = plan.execute().get_job_client()
    until(lambda: len(read(tmp_path / "out")) == 1)
    reader = SavepointReader.read(str(job.stop_with_savepoint(False, str(tmp_path / "savepoints")).result()))
    names = {each.name: uid for uid, each in reader.metadata.operators.items()}
    assert names["GroupAggregate"] == f"{number}_GroupAggregate"


def test_settings_of_execution_are_those_of_the_compilation(tmp_path: Path) -> None:
    plan = session(tmp_path, **{"table.exec.state.ttl": "3 h", "table.exec.resource.default-parallelism": "1"})
    kept = json.loads(plan.compile_plan_sql(GROUPED).as_json_string())["configuration"]
    assert kept == {"table.exec.state.ttl": "3 h"}


def into(env: TableEnvironment, query: str, directory: Path) -> str:
    """Return the text of a compiled plan that writes the changes of a query."""
    schema = env.sql_query(query).get_resolved_schema()
    types = [each.as_summary_string().replace("*ROWTIME*", "") for each in schema.get_column_data_types()]
    listed = ", ".join(f"c{number} {kind.replace(' NOT NULL', '')}" for number, kind in enumerate(types))
    files(env, "written", listed, directory, format="debezium-json")
    return env.compile_plan_sql(f"INSERT INTO written {query}").as_json_string()


@pytest.mark.parametrize("name", QUERIES)
def test_plans_of_every_operator_are_read_back(name: str, tmp_path: Path) -> None:
    env = tables(tmp_path, False, SETTINGS.get(name, {}))
    text = into(env, QUERIES[name], tmp_path / "out")
    restored = tables(tmp_path, False, {}).load_plan(PlanReference.from_json_string(text))
    again = env.load_plan(PlanReference.from_json_string(text))
    assert again._plan.sinks == compiled_again(env, QUERIES[name])
    assert restored.explain() == again.explain()


def compiled_again(env: TableEnvironment, query: str) -> Any:
    return env.compile_plan_sql(f"INSERT INTO written {query}")._plan.sinks


def test_functions_of_users_are_found_by_name(tmp_path: Path) -> None:
    doubled = udf(lambda v: v * 2, result_type=DataTypes.BIGINT(), input_types=[DataTypes.INT()])
    env = session(tmp_path)
    env.create_temporary_function("doubled", doubled)
    plan = env.compile_plan_sql("INSERT INTO written SELECT k, SUM(doubled(v)) FROM t GROUP BY k").as_json_string()
    with pytest.raises(ValidationError, match="Cannot resolve function 'doubled'"):
        session(tmp_path).load_plan(PlanReference.from_json_string(plan))
    other = session(tmp_path)
    other.create_temporary_system_function("doubled", doubled)
    assert "doubled(v)" in other.load_plan(PlanReference.from_json_string(plan)).explain()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda plan: plan | {"planFormat": 99, "scurryVersion": "9.0"}, "scurry 9.0 has compiled it in format 99"),
        (lambda plan: plan | {"mode": "BATCH"}, "the plan was compiled in BATCH"),
        (lambda plan: plan["nodes"][1].update(type="Teleport") or plan, "has a node or a part 'Teleport'"),
        (lambda plan: plan["nodes"][1]["properties"].update(speed=3) or plan, "has speed, which this version"),
        (lambda plan: {"flinkVersion": "2.3", "nodes": []}, "plans of Flink cannot be read"),
        (lambda plan: [], "it is no plan that scurry has compiled"),
    ],
)
def test_a_plan_that_cannot_be_read_says_why(change: Callable[[Any], Any], message: str, tmp_path: Path) -> None:
    env = session(tmp_path)
    plan = change(json.loads(env.compile_plan_sql(GROUPED).as_json_string()))
    with pytest.raises(ValidationError, match=message):
        env.load_plan(PlanReference.from_json_string(json.dumps(plan)))


def test_files_of_plans(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    env = session(tmp_path)
    env.create_statement_set().add_insert_sql(GROUPED).compile_plan().write_to_file(tmp_path / "new" / "p.json")
    plan = env.load_plan(PlanReference.from_file(tmp_path / "new" / "p.json"))
    assert isinstance(plan, CompiledPlan) and plan.get_flink_version() == "2.3"
    plan.print_json_string()
    assert json.loads(capsys.readouterr().out) == json.loads(str(plan))
    plan.write_to_file(tmp_path / "new" / "p.json", ignore_if_exists=True)
    with pytest.raises(ValidationError, match="Cannot overwrite the plan file"):
        plan.write_to_file(tmp_path / "new" / "p.json")
    with pytest.raises(UnsupportedError, match="as_json_string"):
        plan.as_smile_bytes()


def test_tables_of_the_program_cannot_be_compiled(tmp_path: Path) -> None:
    env = session(tmp_path)
    table = env.from_elements([("a", 1)], DataTypes.ROW([DataTypes.FIELD("k", DataTypes.STRING()),
                                                          DataTypes.FIELD("v", DataTypes.BIGINT())]))  # fmt: skip
    pipeline = table.insert_into("written")
    assert pipeline.compile_plan().explain() == pipeline.compile_plan().explain()
    with pytest.raises(ScurryError, match="only accepts a single SQL statement of type INSERT"):
        env.compile_plan_sql("SELECT 1")


class TestTablesInNoCatalog:
    SCHEMA = Schema.new_builder().column("k", DataTypes.STRING()).column("v", DataTypes.INT()).build()

    @pytest.mark.parametrize("kept", ["ALL", "SCHEMA", "IDENTIFIER"])
    def test_all_of_them_is_in_the_plan(self, kept: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
        env = session(tmp_path, **{"table.plan.compile.catalog-objects": kept})
        source = TableDescriptor.for_connector("datagen").schema(self.SCHEMA).option("number-of-rows", "2")
        sink = TableDescriptor.for_connector("print").schema(self.SCHEMA).build()
        text = env.from_descriptor(source.build()).insert_into(sink).compile_plan().as_json_string()
        restored = session(tmp_path).load_plan(PlanReference.from_json_string(text))
        assert restored.as_json_string() == text
        assert "*anonymous_print$" in restored.explain()
        restored.execute().wait()
        assert capfd.readouterr().out.count("+I[") == 2

    def test_but_for_secrets_which_plans_never_have(self, tmp_path: Path) -> None:
        env = session(tmp_path)
        sink = TableDescriptor.for_connector("jdbc").schema(self.SCHEMA).option("url", "jdbc:postgresql://h/d")
        sink = sink.option("table-name", "x").option("username", "u").option("password", "open sesame")
        text = env.from_path("t").insert_into(sink.build()).compile_plan().as_json_string()
        assert "open sesame" not in text
        with pytest.raises(ValidationError, match=r"keeps no secrets: 'password' of table '\*anonymous_jdbc\$1\*'"):
            env.load_plan(PlanReference.from_json_string(text))


def test_parts_of_plans_have_names_of_their_own() -> None:
    found = node_types()
    assert len(set(found.values())) == len(found)
    assert EnvironmentSettings.in_streaming_mode().is_streaming_mode()


class TestSecrets:
    STATEMENT = (
        "CREATE TABLE db (k STRING, n INT) WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql://h/d', "
        "'table-name' = 'x', 'username' = 'u', 'password' = 'open sesame')"
    )

    def compiled(self, directory: Path) -> str:
        env = session(directory)
        env.execute_sql(self.STATEMENT)
        return env.compile_plan_sql("INSERT INTO db SELECT k, v FROM t").as_json_string()

    def test_they_are_not_part_of_a_plan(self, tmp_path: Path) -> None:
        text = self.compiled(tmp_path)
        assert "jdbc:postgresql" in text
        assert "open sesame" not in text

    def test_they_come_from_the_catalog(self, tmp_path: Path) -> None:
        env = session(tmp_path)
        env.execute_sql(self.STATEMENT)
        restored = env.load_plan(PlanReference.from_json_string(self.compiled(tmp_path)))
        (sink,) = restored._plan.sinks
        assert dict(sink.table.table.options)["password"] == "open sesame"

    def test_without_the_table_the_plan_is_refused(self, tmp_path: Path) -> None:
        text = self.compiled(tmp_path)
        with pytest.raises(ValidationError, match="keeps no secrets: 'password' of table"):
            session(tmp_path).load_plan(PlanReference.from_json_string(text))
