"""Behind a regular join rows are not in the order of time: they are ranked and aggregated as by any other column."""

from __future__ import annotations

from typing import Any

import pytest

from scurry.sql.plan.nodes import Plan, walk
from scurry.sql.plan.physical.joins import IntervalJoin, RegularJoin
from scurry.sql.plan.physical.over import NonTimeOverAggregate, OverAggregate
from scurry.sql.plan.physical.ranks import Deduplicate, Rank
from scurry.sql.statements.planning import planned
from scurry.sql.statements.queries import plan_query
from scurry.sql.syntax.parser import parse
from support.statements.tables import environment

REGULAR = "SELECT a.* FROM t a JOIN t b ON a.id = b.id"
SEMI = "SELECT * FROM t WHERE id IN (SELECT id FROM t)"
BOUNDED = "SELECT a.* FROM t a JOIN t b ON a.id = b.id AND a.ts BETWEEN b.ts - INTERVAL '1' MINUTE AND b.ts"
FIRST = "SELECT id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS n FROM ({})) WHERE n = 1"
SUM = "SELECT SUM(id) OVER (PARTITION BY k ORDER BY ts) FROM ({})"
JOINED = "SELECT x.id FROM ({}) x JOIN t y ON x.k = y.k AND x.ts BETWEEN y.ts - INTERVAL '9' SECOND AND y.ts"


@pytest.mark.parametrize(
    ("query", "rows", "kind"),
    [
        (FIRST, "TABLE t", Deduplicate),
        (FIRST, BOUNDED, Deduplicate),
        (FIRST, REGULAR, Rank),
        (FIRST, SEMI, Rank),
        (SUM, BOUNDED, OverAggregate),
        (SUM, f"SELECT * FROM ({REGULAR}) WHERE k <> 'x'", NonTimeOverAggregate),
        (SUM, SEMI, NonTimeOverAggregate),
        (SUM, f"{REGULAR} UNION ALL TABLE t", NonTimeOverAggregate),
        (JOINED, BOUNDED, IntervalJoin),
        (JOINED, REGULAR, RegularJoin),
    ],
)
def test_the_operator_above_a_join(query: str, rows: str, kind: type[Plan]) -> None:
    env = environment(True)
    env.execute_sql(
        "CREATE TABLE t (id INT, k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen')"
    )
    parsed: Any = parse(query.format(rows))
    (plan,) = planned(env._session, [plan_query(env._session, parsed)]).plans
    kinds = (Deduplicate, Rank, OverAggregate, NonTimeOverAggregate, IntervalJoin, RegularJoin)
    assert next(type(each) for each in walk(plan) if type(each) in kinds) is kind
