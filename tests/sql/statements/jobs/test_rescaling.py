"""Every operator of STREAMING goes on from savepoints at other parallelisms, with the same final table."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from support.statements.operator_queries import OF_TWO_TABLES, QUERIES, SETTINGS
from support.statements.stopped_jobs import has_read, insert, rows_left, tables, write_names, write_stage
from support.statements.tables import until


@pytest.mark.parametrize("name", QUERIES)
def test_an_operator_goes_on_at_other_parallelisms_with_the_same_final_table(name: str, tmp_path: Path) -> None:
    write_names(tmp_path)
    query, settings = {name: QUERIES[name]}, SETTINGS.get(name, {})
    # A reader without a file would hold back event time until the input ends.
    idle = {} if name in OF_TWO_TABLES else {"table.exec.source.idle-timeout": "50 ms"}
    savepoint, left = None, list[dict[str, Any]]()
    for stage, parallelism in enumerate((2, 4, 1)):
        changes = write_stage(tmp_path, stage, left)
        start = {"parallelism.default": str(parallelism), **settings, **idle}
        if savepoint is not None:
            start["execution.state-recovery.path"] = savepoint
        job = insert(tables(tmp_path, True, start), query, tmp_path / "out")
        until(partial(has_read, job, changes))
        savepoint = job.stop_with_savepoint(stage == 2, str(tmp_path / "savepoints")).result()
    whole = insert(tables(tmp_path, False, {"parallelism.default": "1", **settings}), query, tmp_path / "whole")
    whole.get_job_execution_result().result()
    assert rows_left(tmp_path / "out" / name) == rows_left(tmp_path / "whole" / name)
    assert rows_left(tmp_path / "whole" / name)
