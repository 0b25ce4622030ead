"""A job whose checkpoint directory another process has taken over commits nothing more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Configuration, Types, WatermarkStrategy
from scurry.connectors.ranges import NumberSequenceSource
from scurry.datastream import StreamExecutionEnvironment
from scurry.errors import CheckpointLockedError, ScurryError
from scurry.runtime.checkpoint import directory
from scurry.runtime.driver.sink_commits import SinkCommits


def test_a_job_that_has_lost_its_directory_commits_nothing_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    committed: list[int] = []

    @contextmanager
    def lost_after_a_batch(*_: Any) -> Iterator[Callable[[], None]]:
        def require() -> None:
            if committed:
                raise CheckpointLockedError("taken over")

        yield require

    monkeypatch.setattr(directory, "locked", lost_after_a_batch)
    monkeypatch.setattr(SinkCommits, "commit", lambda self, batch_id, output: committed.append(batch_id))
    settings = {"scurry.runner": "local", "scurry.batch.max-records": "10", "restart-strategy.type": "none"}
    settings["execution.checkpointing.dir"] = str(tmp_path / "checkpoints")
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
    source = NumberSequenceSource(0, 99)
    env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG()).print()
    with pytest.raises(ScurryError, match="taken over"):
        env.execute()
    assert committed == [0]
