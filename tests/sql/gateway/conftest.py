from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from scurry.sql.gateway.sessions import Sessions
from support.gateway import TOKEN, Gateway, serving


@pytest.fixture(scope="module")
def gateway() -> Iterator[Gateway]:
    with serving(Sessions({"scurry.runner": "local", "parallelism.default": "1"}), TOKEN) as served:
        yield served


@pytest.fixture
def csv(tmp_path: Path) -> str:
    """Return the statement that creates a table of three rows."""
    (tmp_path / "t.csv").write_text("1,ann,3.5\n2,bob,4\n3,cid,1\n")
    return (
        "CREATE TABLE t (id INT, name STRING, amount DOUBLE) WITH "
        f"('connector' = 'filesystem', 'path' = '{tmp_path}/t.csv', 'format' = 'csv')"
    )
