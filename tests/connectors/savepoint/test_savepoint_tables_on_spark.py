"""Tables of savepoints on Spark: workers read the key groups."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scurry.common import Row
from scurry.common.typeinfo import Types
from scurry.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from scurry.sql.savepoints import source
from scurry.state import OperatorTransformation, SavepointWriter
from support.statements.tables import environment, rows

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("streaming", [False, True])
def test_states_of_every_kind_are_read_by_workers(
    streaming: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "SPLIT_BYTES", 1)
    monkeypatch.setattr("scurry.runtime.savepoint.entries.ROW_GROUP_BYTES", 2_000)
    states = [
        ValueStateDescriptor("pair", Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()])),
        ListStateDescriptor("l", Types.LONG()),
        MapStateDescriptor("m", Types.STRING(), Types.DOUBLE()),
    ]
    stored: Any = [((n, "x"), {"pair": Row(n, "y"), "l": [n, n + 1], "m": {"z": n / 2}}) for n in range(200)]
    state = OperatorTransformation.keyed_state(stored, states)
    path = SavepointWriter.new_savepoint(16).with_operator("visits", state).write(str(tmp_path / "s"))
    env = environment(streaming, **{"scurry.runner": "spark"})
    env.execute_sql(
        "CREATE TABLE s (k ROW<n INT, s STRING>, pair ROW<b STRING, a INT>, l ARRAY<BIGINT>, m MAP<STRING, DOUBLE>, "
        f"PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'savepoint', 'state.path' = '{path}', "
        "'operator.uid' = 'visits')"
    )
    found = rows(env, "SELECT k.n, pair, l, m FROM s WHERE k.n < 3")
    assert found == [(n, Row("y", n), [n, n + 1], {"z": n / 2}) for n in range(3)]
    env.execute_sql("LOAD MODULE state")
    query = f"SELECT `operator-uid` FROM savepoint_metadata('{path}')"
    assert rows(env, query) == [("visits",)]
