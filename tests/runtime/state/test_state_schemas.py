"""What is known of state, and when: reported by workers once, collected from a program that is to start with state."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from typing import Any

import cloudpickle
import pytest

from scurry.common import Row, Time, Types
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.functions import KeyedProcessFunction, ReduceFunction
from scurry.datastream.state import ListStateDescriptor, MapStateDescriptor, StateTtlConfig, ValueStateDescriptor
from scurry.datastream.window import CountTrigger, TumblingEventTimeWindows
from scurry.errors import OperatorError
from scurry.graph.plan import JobPlan
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.local.runner import LocalRunner
from scurry.runtime.operators import KeyedOperator
from scurry.runtime.savepoint.schemas import collect_schemas
from scurry.runtime.state.backend import Index
from scurry.runtime.state.evolution.job import plan_migration
from scurry.runtime.state.types import annotation_text, declared_type, describe, describe_hint, text
from scurry.testing import TestHarness, job_plan_of
from support.runtime.program_versions import KEY, MODULE, Keep, keeping, program, restored, written

VISIT = Types.ROW_NAMED(["name", "n"], [Types.STRING(), Types.INT()])


def planned(mode: Any, *descriptors: Any, function: Any = None) -> JobPlan:
    env = StreamExecutionEnvironment.get_execution_environment()
    stream = env.from_collection([(KEY, "n", "update", (1,)), (KEY, "n", "update", (2,))])
    stream.key_by(lambda value: value[0]).process(function or Keep(descriptors)).uid("keep").print()
    plan = job_plan_of(env, "test")
    plan.settings = replace(plan.settings, mode=mode)
    return plan


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
def test_the_driver_knows_the_schemas_of_what_a_job_keeps(mode: str) -> None:
    number = ValueStateDescriptor("n", Types.LONG())
    number.enable_time_to_live(StateTtlConfig.new_builder(Time.milliseconds(50)).build())
    job = JobExecution(planned(mode, number, ListStateDescriptor("l", VISIT)))
    LocalRunner().run(job)
    assert json.loads(json.dumps(job.state_schemas)) == {
        "keep": {
            "n": {"kind": "value", "type": "LONG", "ttl": 50},
            "l": {"kind": "list", "type": ["LIST", ["ROW", ["name", "STRING"], ["n", "INT"]]]},
        }
    }


def test_schemas_are_reported_once() -> None:
    with TestHarness.of(keeping(ValueStateDescriptor("n"))) as harness:
        (task,) = harness._levels.tasks[1].tasks.values()
        (registry,) = [each.states.registry for each in task.operators.values() if isinstance(each, KeyedOperator)]
        assert registry.news() == {"n": {"kind": "value", "type": "ANY"}}
        harness.process((KEY, "n", "update", (1,)))
        assert registry.news() == {}


def test_what_operators_keep_by_themselves_follows_from_the_plan() -> None:
    def build(stream: Any) -> Any:
        by_name = stream.key_by(lambda visit: visit.name, Types.STRING())
        windows = by_name.window(TumblingEventTimeWindows.of(Time.seconds(1)))
        return windows.trigger(CountTrigger.of(2)).reduce(lambda a, b: a).uid("w")

    with TestHarness.of(build, input_types=[VISIT]) as harness:
        harness.process(Row(name="a", n=1), 5)
        schemas = harness.snapshot().schemas["w"]
    row = ["ROW", ["name", "STRING"], ["n", "INT"]]
    assert schemas["window-contents"] == {"kind": "window", "type": row, "layout": "windows (reduce)"}
    assert schemas["(key)"] == {"kind": "key", "type": "STRING"}
    assert [schema for schema in schemas.values() if schema.get("lazy")]  # the trigger's


class Watched(KeyedProcessFunction):
    calls: list[str] = []

    def open(self, runtime_context: Any) -> None:
        self.calls.append("open")
        runtime_context.get_map_state(MapStateDescriptor("m"))

    def process_element(self, value: Any, ctx: Any) -> None: ...

    def close(self) -> None:
        self.calls.append("close")


class Broken(Watched):
    def open(self, runtime_context: Any) -> None:
        raise OSError("no such database")


def test_collecting_opens_each_function_once_and_closes_it() -> None:
    Watched.calls.clear()
    collected = collect_schemas(lambda: planned("STREAMING", function=Watched()))
    assert Watched.calls == ["open", "close"]
    assert [(name, str(each.schema)) for name, each in collected["keep"].items()] == [
        ("m", "map of type MAP<undeclared, undeclared>")
    ]


def test_a_function_that_cannot_be_opened_is_told_like_any_failure() -> None:
    with pytest.raises(OperatorError, match=r"OSError: no such database(.|\n)*in operator"):
        collect_schemas(lambda: planned("STREAMING", function=Broken()))


def test_a_migration_travels_to_the_tasks_that_restore() -> None:
    before = ValueStateDescriptor("n", Types.STRING())
    after = ValueStateDescriptor("n", Types.LONG()).with_migration(convert=lambda old: int(old) + 1)
    snapshot = written((before, "update", "1"))
    plan = planned("STREAMING", after)
    collected = cloudpickle.loads(cloudpickle.dumps(collect_schemas(lambda: plan)))
    migration = pickle.loads(pickle.dumps(plan_migration(plan, snapshot.schemas, collected, 0)))
    pages = [blob for kind, _, blob in snapshot.operators["keep"] if kind == "page"]
    assert [pickle.loads(migration.migrate("keep", "page", blob)) for blob in pages] == [{KEY: {"n": 2}}]
    assert migration.schemas["keep"]["n"] == {"kind": "value", "type": "LONG"}


def test_operators_without_changes_have_no_migration() -> None:
    state = ValueStateDescriptor("n", Types.LONG())
    plan = planned("STREAMING", state)
    schemas = written((state, "update", 1)).schemas
    assert plan_migration(plan, schemas, collect_schemas(lambda: plan), 0).operators == {}


def test_all_pages_of_large_state_are_migrated_and_timers_and_indexes_stay() -> None:
    class Timed(Keep):
        def process_element(self, value: Any, ctx: Any) -> None:
            super().process_element(value, ctx)
            ctx.timer_service().register_event_time_timer(value[3][0])

    def build(declared: Any) -> Any:
        function = Timed((ValueStateDescriptor("n", declared),))
        return lambda stream: stream.key_by(lambda value: value[0]).process(function).uid("keep")

    keys = range(3000)
    with TestHarness.of(build(Types.LONG()), max_parallelism=2) as harness:
        with harness.batch():
            for key in keys:
                harness.process((key, "n", "update", (key,)), 0)
        snapshot = harness.snapshot()
    pages = [pickle.loads(blob) for kind, _, blob in snapshot.operators["keep"] if kind == "page"]
    assert any(isinstance(page, Index) for page in pages)
    state = ValueStateDescriptor("n", Types.DOUBLE())
    with TestHarness.of(build(Types.DOUBLE()), max_parallelism=2, parallelism=2, snapshot=snapshot) as harness:
        assert [harness.state(state, key) for key in (0, 1500, 2999)] == [0.0, 1500.0, 2999.0]
        assert type(harness.state(state, 2999)) is float
        assert harness.num_event_time_timers() == len(keys)


def test_types_come_back_from_json() -> None:
    declared = Types.ROW_NAMED(
        ["a", "b", "c"],
        [
            Types.MAP(Types.STRING(), Types.LIST(Types.SQL_TIMESTAMP())),
            Types.TUPLE([Types.PRIMITIVE_ARRAY(Types.BYTE()), Types.PICKLED_BYTE_ARRAY()]),
            Types.OBJECT_ARRAY(Types.INSTANT()),
        ],
    )
    described = json.loads(json.dumps(describe(declared)))
    assert declared_type(described) == declared
    assert text(described) == (
        "ROW<a MAP<STRING, LIST<SQL_TIMESTAMP>>, b TUPLE<PRIMITIVE_ARRAY<BYTE>, undeclared>, c OBJECT_ARRAY<INSTANT>>"
    )


@pytest.mark.parametrize("hint", [int, "dict[str, list[float]]", "tuple[int, bytes | None]", "Any"])
def test_annotations_are_told_as_they_were_written(hint: Any) -> None:
    evaluated = eval(hint, {"Any": Any}) if isinstance(hint, str) else hint
    assert annotation_text(describe_hint(evaluated)) == (hint if isinstance(hint, str) else hint.__name__)


def test_annotations_that_cannot_be_evaluated_do_not_hide_the_others() -> None:
    state = ValueStateDescriptor("n")
    source = "@dataclass\nclass Half:\n    known: int\n    unknown: OnlyForTypeCheckers\n"
    with program(source) as module:
        snapshot = written((state, "update", module.Half(1, 2)))
    assert snapshot.schemas["keep"]["(classes)"]["classes"][f"{MODULE}:Half"]["fields"] == [
        ["known", "BIG_INT"],
        ["unknown", "ANY"],
    ]
    with program(source.replace("known: int", "known: float", 1).replace("OnlyForTypeCheckers", "int")) as module:
        with restored(snapshot, state) as harness:
            assert harness.state(state, KEY) == module.Half(1.0, 2)


def test_state_called_as_the_operators_own_is_refused() -> None:
    class Reduce(ReduceFunction):
        def open(self, runtime_context: Any) -> None:
            runtime_context.get_state(ValueStateDescriptor("reduce"))

        def reduce(self, value1: Any, value2: Any) -> Any:
            return value1

    with pytest.raises(
        OperatorError, match=r"'Reduce' .* itself keeps state called 'reduce': give the function's state"
    ):
        TestHarness.of(lambda stream: stream.key_by(lambda value: value).reduce(Reduce()))
