"""TO_CHANGELOG and FROM_CHANGELOG on Spark have the rows that they have in this process."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from scurry.table import DataTypes, EnvironmentSettings, TableEnvironment

pytestmark = pytest.mark.spark

QUERY = (
    "SELECT 'left' AS what, k, v FROM FROM_CHANGELOG(input => TABLE r) "
    "UNION ALL SELECT 'again', k, v FROM FROM_CHANGELOG(input => (SELECT * FROM TO_CHANGELOG(input => (SELECT k, v "
    "FROM FROM_CHANGELOG(input => TABLE r))))) "
    "UNION ALL SELECT 'most', k, m FROM FROM_CHANGELOG(input => (SELECT * FROM TO_CHANGELOG(input => (SELECT k, MAX(v) "
    "AS m FROM FROM_CHANGELOG(input => TABLE r) GROUP BY k)))) "
    "UNION ALL SELECT op, k, v FROM TO_CHANGELOG(input => (SELECT k, v FROM r WHERE op = 'DELETE'), "
    "op_mapping => MAP['INSERT', 'gone'])"
)


def rows() -> list[Any]:
    chosen = random.Random(7)
    there: list[Any] = []
    found: list[Any] = []
    for _ in range(200):
        if there and chosen.random() < 0.4:
            found.append(("DELETE", *there.pop(chosen.randrange(len(there)))))
        else:
            there.append((chosen.choice("abc"), chosen.choice([1, 2, None])))
            found.append(("INSERT", *there[-1]))
    return found


def answers(runner: str, streaming: bool) -> Counter[Any]:
    settings = EnvironmentSettings.in_streaming_mode() if streaming else EnvironmentSettings.in_batch_mode()
    env = TableEnvironment.create(settings)
    env.get_config().set("scurry.runner", runner).set("parallelism.default", "2")
    fields = [DataTypes.FIELD("op", DataTypes.STRING()), DataTypes.FIELD("k", DataTypes.STRING())]
    types = DataTypes.ROW([*fields, DataTypes.FIELD("v", DataTypes.INT())])
    env.create_temporary_view("r", env.from_elements(rows(), types))
    found: Counter[Any] = Counter()
    with env.execute_sql(QUERY).collect() as changes:
        for row in changes:
            found[tuple(row)] += 1 if row.get_row_kind().name in ("INSERT", "UPDATE_AFTER") else -1
    return +found


@pytest.mark.parametrize("streaming", [False, True])
def test_spark_has_the_rows_of_this_process(streaming: bool) -> None:
    assert answers("spark", streaming) == answers("local", streaming)
