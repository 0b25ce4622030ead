"""A sample of the edge values on Spark: one job of BATCH and one of STREAMING."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import pytest

from scurry.table import EnvironmentSettings, TableEnvironment
from support.edge_values import DEFINITIONS, MODES, differences, queries, recorded, rows_by_name, union, write_files

pytestmark = pytest.mark.spark

SAMPLE = {
    "batch": {
        "doubles, UTC: group by", "doubles, UTC: distinct", "doubles, UTC: join", "doubles, UTC: null-safe join",
        "doubles, UTC: in", "doubles, UTC: intersect", "doubles, UTC: except", "doubles, UTC: min and max of groups",
        "doubles, UTC: over rows", "doubles, UTC: greatest", "doubles, UTC: as text", "days, UTC: values",
        "clocks, UTC: values", "moments, UTC: moved",
    },
    "streaming": {
        "doubles, UTC: group by", "doubles, UTC: join", "doubles, UTC: min and max of groups", "floats, UTC: as text",
        "moments, UTC: values",
    },
}  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
def test_a_sample_of_queries_has_the_rows_of_flink(mode: str, tmp_path: Path) -> None:
    write_files(str(tmp_path))
    settings = EnvironmentSettings.in_batch_mode() if mode == "batch" else EnvironmentSettings.in_streaming_mode()
    env = TableEnvironment.create(settings)
    env.get_config().set("table.display.max-column-width", "400").set("table.local-time-zone", "UTC")
    env.get_config().set("scurry.runner", "spark")
    for statement in DEFINITIONS:
        env.execute_sql(statement.replace("{tmp}", str(tmp_path)))
    chosen = [query for query in queries(mode) if query.name in SAMPLE[mode]]
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        env.execute_sql(union(chosen)).print()
    flink = {name: rows for name, rows in recorded(mode).items() if name in SAMPLE[mode]}
    assert {query.name for query in chosen} == SAMPLE[mode]
    assert differences(flink, rows_by_name(output.getvalue())) == {}
