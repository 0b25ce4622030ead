"""VECTOR_SEARCH in tasks of Spark, in both modes, of files and of rows that only the driver has."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from scurry.table import EnvironmentSettings, TableEnvironment

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("mode", ["batch", "streaming"])
def test_each_row_has_its_nearest(mode: str, tmp_path: Path) -> None:
    rows = [{"e": number, "g": [float(number), 100.0 - number]} for number in range(100)]
    (tmp_path / "rows.json").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    settings = EnvironmentSettings.in_batch_mode() if mode == "batch" else EnvironmentSettings.in_streaming_mode()
    settings.get_configuration().set_string("scurry.runner", "spark").set_string("parallelism.default", "2")
    env = TableEnvironment.create(settings)
    env.execute_sql(
        "CREATE TABLE f (e BIGINT, g ARRAY<DOUBLE>) "
        f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'json')"
    )
    env.create_temporary_view("m", env.from_pandas(pd.DataFrame(rows)))
    for table in ("f", "m"):
        query = (
            f"SELECT m.e, f.e FROM m, LATERAL TABLE(VECTOR_SEARCH(TABLE {table}, DESCRIPTOR(g), m.g, 1)) AS f(e, g, s)"
        )
        found = sorted(tuple(row) for row in env.execute_sql(query).collect())
        assert found == [(number, number) for number in range(100)]
