"""A session that is started again names the workflows that it cannot run."""

from __future__ import annotations

import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scurry.rest.session.workflows import Workflows


def test_a_damaged_workflow_is_logged_with_its_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    directory: Any = SimpleNamespace(workflows=tmp_path / "workflows")
    directory.workflows.mkdir()
    (directory.workflows / "1.json").write_text('{"id": ')
    runs: Any = None
    workflows = Workflows(runs, directory)
    with caplog.at_level(logging.ERROR, logger="scurry"):
        workflows.open()
    workflows.close()
    (record,) = caplog.records
    assert "1.json cannot run: " in record.getMessage()
