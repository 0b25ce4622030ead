"""The same state as table as in Flink 2.3, whose answers `RecordedSavepoint.java` printed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scurry.common.typeinfo import Types
from scurry.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from scurry.state import OperatorTransformation, SavepointWriter
from support.statements.tables import environment, rows

STATES = [
    ValueStateDescriptor("count", Types.LONG()),
    ListStateDescriptor("pages", Types.STRING()),
    MapStateDescriptor("by", Types.STRING(), Types.INT()),
    ValueStateDescriptor("other", Types.LONG()),
]
STORED: list[tuple[int, dict[str, Any]]] = [
    (1, {"count": 10, "pages": ["a", "b"], "by": {"k": 1}}),
    (2, {"pages": ["c"]}),
    (3, {"by": {"z": 3}}),
    (4, {"other": 4}),
    (5, {"count": 50}),
]
ALL = "k BIGINT, `count` BIGINT, pages ARRAY<STRING>, `by` MAP<STRING, INT>"
#: Columns, options, query, and the rows that Flink shows.
RECORDED = [
    (
        ALL,
        "",
        "SELECT * FROM s",
        [(1, 10, ["a", "b"], {"k": 1}), (2, None, ["c"], {}), (3, None, [], {"z": 3}), (5, 50, [], {})],
    ),
    (ALL, "", "SELECT k FROM s", [(1,), (2,), (3,), (5,)]),
    ("k BIGINT, `count` BIGINT", "", "SELECT * FROM s", [(1, 10), (5, 50)]),
    ("k BIGINT, `count` STRING", "", "SELECT * FROM s", [(1, "10"), (5, "50")]),
    ("k BIGINT, c BIGINT", ", 'fields.c.state-name' = 'count'", "SELECT * FROM s", [(1, 10), (5, 50)]),
]


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize(("columns", "options", "query", "shown"), RECORDED)
def test_rows_are_those_of_flink(
    columns: str, options: str, query: str, shown: list[Any], streaming: bool, tmp_path: Path
) -> None:
    state = OperatorTransformation.keyed_state(STORED, STATES)
    path = SavepointWriter.new_savepoint(128).with_operator("visits", state).write(str(tmp_path / "s"))
    env = environment(streaming)
    env.execute_sql(
        f"CREATE TABLE s ({columns}, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'savepoint', "
        f"'state.backend.type' = 'hashmap', 'state.path' = '{path}', 'operator.uid' = 'visits'{options})"
    )
    assert rows(env, query) == shown
