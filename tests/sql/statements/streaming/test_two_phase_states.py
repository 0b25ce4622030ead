"""What is sent of groups has the same types whether there are values or not: blocks of both are put together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from scurry.sql.evaluation.batch.batches import batch_of
from scurry.sql.operators.aggregation.partial import PartialState, partials
from scurry.sql.plan.nodes import walk
from scurry.sql.plan.physical.aggregates import GlobalGroupAggregate
from scurry.sql.statements.planning import planned
from scurry.sql.statements.queries import plan_query
from scurry.sql.syntax.parser import parse
from support.statements.tables import environment

COLUMNS = {
    "TINYINT": pa.array([1], pa.int8()),
    "INT": pa.array([1], pa.int32()),
    "BIGINT": pa.array([1], pa.int64()),
    "FLOAT": pa.array([1.5], pa.float32()),
    "DOUBLE": pa.array([1.5], pa.float64()),
    "DECIMAL(9, 2)": pa.array(["1.5"]).cast(pa.decimal128(9, 2)),
    "STRING": pa.array(["a"]),
    "BOOLEAN": pa.array([True]),
    "DATE": pa.array([1], pa.int32()).cast(pa.date32()),
    "TIMESTAMP(3)": pa.array([1], pa.int64()).cast(pa.timestamp("ms")),
}
OF_NUMBERS = ("SUM", "AVG", "STDDEV_POP", "VAR_SAMP")
OF_ALL = ("COUNT", "MIN", "MAX", "COLLECT", "ARRAY_AGG")
NUMBERS = list(COLUMNS)[:6]


@pytest.mark.parametrize(
    ("function", "kind"),
    [*((f, kind) for f in OF_NUMBERS for kind in NUMBERS), *((f, kind) for f in OF_ALL for kind in COLUMNS)],
)
def test_states_of_no_values_have_the_types_of_others(function: str, kind: str) -> None:
    env = environment(True)
    env.get_config().set("table.exec.mini-batch.enabled", "true")
    env.execute_sql(f"CREATE TABLE n (k INT, v {kind}) WITH ('connector' = 'datagen')")
    session = env._session
    parsed: Any = parse(f"SELECT k, {function}(v) FROM n GROUP BY k")
    (plan,) = planned(session, [plan_query(session, parsed)]).plans
    (phase,) = (each for each in walk(plan) if isinstance(each, GlobalGroupAggregate))
    schema = phase.aggregate.input.schema
    (sent,), _, _ = partials(phase.aggregate.calls, schema, False, session.for_functions())
    assert isinstance(sent, PartialState)
    row = batch_of([pa.array([1], pa.int32()), COLUMNS[kind]], schema, 1)
    states = sent.partial(row, None, np.zeros(1, dtype=np.int64), 1)
    assert [each.type for each in states] == sent.types
    assert [each.type for each in sent.merged(states, np.zeros(1, dtype=np.int64), 1)] == sent.types
