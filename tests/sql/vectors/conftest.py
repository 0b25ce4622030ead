"""An environment of each mode with rows that search, and a table that is searched."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scurry.table import DataTypes, EnvironmentSettings, TableEnvironment

VECTORS = [
    {"e": 1, "f": "right", "g": [1, 0]},
    {"e": 2, "f": "up", "g": [0, 2]},
    {"e": 3, "f": "between", "g": [1, 1]},
    {"e": 4, "f": "nowhere", "g": None},
]


def write(path: Path, rows: list[dict[str, object]]) -> None:
    path.mkdir(exist_ok=True)
    (path / "rows.json").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    path = tmp_path / "v"
    write(path, VECTORS)
    return path


@pytest.fixture(params=["streaming", "batch"])
def env(request: pytest.FixtureRequest, files: Path) -> TableEnvironment:
    streaming = request.param == "streaming"
    settings = EnvironmentSettings.in_streaming_mode() if streaming else EnvironmentSettings.in_batch_mode()
    settings.get_configuration().set_string("scurry.runner", "local").set_string("parallelism.default", "1")
    env = TableEnvironment.create(settings)
    env.execute_sql(
        "CREATE TABLE V (e INT, f STRING, g ARRAY<FLOAT>) "
        f"WITH ('connector' = 'filesystem', 'path' = '{files}', 'format' = 'json')"
    )
    kind = DataTypes.ROW(
        [DataTypes.FIELD("a", DataTypes.INT()), DataTypes.FIELD("d", DataTypes.ARRAY(DataTypes.FLOAT()))]
    )
    env.create_temporary_view("Q", env.from_elements([(1, [3.0, 0.0]), (2, [0.0, 1.0]), (3, None)], kind))
    return env
