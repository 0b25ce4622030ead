"""A statement runs although its plan cannot be shown."""

from __future__ import annotations

import pytest

from scurry.sql.statements import streaming_runner
from scurry.table import EnvironmentSettings, TableEnvironment


@pytest.mark.parametrize("mode", ["batch", "streaming"])
def test_a_plan_that_cannot_be_shown_is_a_warning(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def explained(*_: object) -> str:
        raise KeyError("no text")

    monkeypatch.setattr(streaming_runner, "explain_executed", explained)
    settings = EnvironmentSettings.in_batch_mode() if mode == "batch" else EnvironmentSettings.in_streaming_mode()
    env = TableEnvironment.create(settings)
    env.get_config().set("scurry.runner", "local")
    with pytest.warns(UserWarning, match="the plan cannot be shown, please report this: KeyError: 'no text'"):
        with env.execute_sql("SELECT 1 + 1").collect() as found:
            assert [tuple(row) for row in found] == [(2,)]
