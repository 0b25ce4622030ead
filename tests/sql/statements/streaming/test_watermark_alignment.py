"""Tables of an alignment group wait for each other in event time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.statements.tables import environment, files, write

#: How far the times of two rows of a table are apart, in ms.
STEPS = {"fast": 1000, "slow": 100}
END = 200_000
ALIGNED = {"scan.watermark.alignment.group": "g", "scan.watermark.alignment.max-drift": "2 s"}


def furthest_ahead(directory: Path, options: dict[str, str]) -> int:
    """Return how many ms the rows of one table were ahead of those of the other, which are read together."""
    env = environment(**{"parallelism.default": "1", "scurry.batch.max-bytes": "400"})
    for name, step in STEPS.items():
        at: list[dict[str, Any]] = [{"n": number * step} for number in range(0, END // step)]
        write(directory / name, "f", *at)
        columns = "n BIGINT, ts AS TO_TIMESTAMP_LTZ(n, 3), WATERMARK FOR ts AS ts"
        files(env, name, columns, directory / name, **options)
    reached, ahead = dict.fromkeys(STEPS, 0), 0
    parts = [f"SELECT '{name}' AS name, n FROM {name}" for name in STEPS]
    with env.execute_sql(" UNION ALL ".join(parts)).collect() as results:
        for name, at_ms in results:
            reached[name] = at_ms
            ahead = max(ahead, reached["fast"] - reached["slow"])
    assert reached == {name: END - step for name, step in STEPS.items()}
    return ahead


@pytest.mark.parametrize(("options", "waits"), [(ALIGNED, True), ({}, False)])
def test_a_table_that_is_ahead_of_its_group_waits(options: dict[str, str], waits: bool, tmp_path: Path) -> None:
    # Two micro-batches, each of 30 s of the fast table, are read before its watermark is known.
    assert (furthest_ahead(tmp_path, options) < 2_000 + 60_000) == waits
