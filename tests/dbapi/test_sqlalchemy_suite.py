"""SQLAlchemy's own tests of dialects, on tables of a catalog of files in this process."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
INIT = """\
CREATE CATALOG c WITH ('type' = 'filesystem', 'path' = '{path}/tables');
CREATE DATABASE IF NOT EXISTS c.test_schema;
CREATE DATABASE IF NOT EXISTS c.test_schema_2;
"""


@pytest.mark.slow
def test_the_suite_of_sqlalchemy_passes(tmp_path: Path) -> None:
    """In a process of its own: it brings a plugin that changes how tests are collected."""
    (tmp_path / "tables").mkdir()
    (tmp_path / "init.sql").write_text(INIT.format(path=tmp_path))
    (tmp_path / "pytest.ini").write_text("[pytest]\npython_files=suite.py\n")
    (tmp_path / "setup.cfg").write_text(
        "[sqla_testing]\nrequirement_cls=support.compliance.requirements:Requirements\nprofile_file=profiles.txt\n"
    )
    plugins = ["support.compliance.plugin", "sqlalchemy.testing.plugin.pytestplugin", "no:cacheprovider"]
    done = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-q", "--tb=short", "-c", "pytest.ini", "--rootdir", str(tmp_path),
            *(word for each in plugins for word in ("-p", each)), "-W", "ignore::sqlalchemy.exc.SAWarning",
            "--dburi", f"scurry:///c?init_file={tmp_path}/init.sql", str(TESTS / "support" / "compliance" / "suite.py"),
        ],
        cwd=tmp_path, capture_output=True, text=True, timeout=600, env={**os.environ, "PYTHONPATH": str(TESTS)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None and int(passed[1]) >= 400, done.stdout[-500:]
