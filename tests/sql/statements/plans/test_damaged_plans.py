"""A compiled plan that is damaged anywhere is read as it is, or refused with the file and the node."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from scurry.errors import CompiledPlanError, ScurryError
from scurry.table import PlanReference
from support.statements.operator_queries import QUERIES, SETTINGS
from support.statements.stopped_jobs import tables
from support.statements.tables import environment, files

ODD: list[Any] = [
    None,
    True,
    -1,
    0,
    10**30,
    1.5,
    "",
    "x",
    "INT",
    [],
    {},
    [[]],
    {"class": "node"},
    {"class": "os.system"},
]


def changed(content: Any, chance: random.Random) -> Any:
    """The content with one value in it replaced, removed or moved."""
    if not isinstance(content, dict | list) or not content or chance.random() < 0.08:
        return chance.choice([one for one in ODD if one != content])
    copy: Any = dict(content) if isinstance(content, dict) else list(content)
    key = chance.choice(list(content) if isinstance(content, dict) else range(len(content)))
    way = chance.random()
    if way < 0.12:
        del copy[key]
    elif way < 0.17 and isinstance(copy, list):
        copy.append(copy[key])
    elif way < 0.22 and isinstance(copy, dict):
        copy[f"{key}x"] = copy[key]
    else:
        copy[key] = changed(content[key], chance)
    return copy


def compiled(name: str, directory: Path) -> str:
    env = tables(directory, False, SETTINGS.get(name, {}))
    schema = env.sql_query(QUERIES[name]).get_resolved_schema()
    types = [each.as_summary_string().replace("*ROWTIME*", "") for each in schema.get_column_data_types()]
    listed = ", ".join(f"c{number} {kind.replace(' NOT NULL', '')}" for number, kind in enumerate(types))
    files(env, "written", listed, directory / "out", format="debezium-json")
    return env.compile_plan_sql(f"INSERT INTO written {QUERIES[name]}").as_json_string()


@pytest.mark.parametrize("name", QUERIES)
def test_any_change_is_accepted_or_refused_by_name(name: str, tmp_path: Path) -> None:
    plan = json.loads(compiled(name, tmp_path))
    env = tables(tmp_path, False, {})
    chance = random.Random(name)
    for _ in range(12):
        damaged = changed(plan, chance)
        (tmp_path / "plan.json").write_text(json.dumps(damaged))
        try:
            env.load_plan(PlanReference.from_file(str(tmp_path / "plan.json"))).explain()
        except CompiledPlanError as error:
            assert "plan.json" in str(error) or "the plan is damaged" in str(error), damaged
        except ScurryError:  # what the text says is possible, but not here
            pass


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (
            lambda plan: plan.pop("sinks"),
            r"Cannot load Plan from file '.*plan.json'. it is damaged \(KeyError: 'sinks'",
        ),
        (lambda plan: plan["nodes"][1].pop("type"), r"it is damaged \(KeyError: 'type'\)"),
        (lambda plan: plan["nodes"][1]["properties"].clear(), r"plan.json'. node 2 \('\w+'\): \w+ lacks something"),
        (lambda plan: plan["nodes"][1]["properties"].update(input=5), r"node 2 \('\w+'\): \w+ has 5 as its input"),
        (
            lambda plan: plan["nodes"][1]["properties"].update(input={"class": "node", "id": 99}),
            r"node 2 \('\w+'\) is damaged \(KeyError: 99\): compile the statement again",
        ),
        (lambda plan: plan.update(sinks=[1]), r"its sinks \[1\] are none"),
        (lambda plan: plan.update(configuration={"python.files": "/x.py"}), "it has the setting 'python.files'"),
        (lambda plan: plan.update(planFormat="1"), "has compiled it in format 1"),
    ],
)
def test_a_damaged_plan_names_the_file_and_the_node(damage: Any, message: str, tmp_path: Path) -> None:
    env = environment()
    files(env, "t", "k STRING, v INT", tmp_path / "in")
    files(env, "written", "k STRING, n BIGINT", tmp_path / "out", format="debezium-json")
    plan = json.loads(env.compile_plan_sql("INSERT INTO written SELECT k, SUM(v) FROM t GROUP BY k").as_json_string())
    damage(plan)
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    with pytest.raises(CompiledPlanError, match=message):
        env.load_plan(PlanReference.from_file(str(tmp_path / "plan.json")))


def test_a_plan_that_is_too_deep_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CompiledPlanError, match="it is no JSON"):
        environment().load_plan(PlanReference.from_json_string("[" * 100_000))
