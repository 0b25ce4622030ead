"""The JVM that `scurry run` starts before the program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.spark

PROGRAM = """
import json, os
from pyflink.table import EnvironmentSettings, TableEnvironment

environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
from scurry.spark.session import prewarm
process = prewarm._early[0]._process
{between}
rows = list(environment.execute_sql("SELECT SUM(v) FROM (VALUES (1), (2)) AS t(v)").collect())
from pyspark import SparkContext
context = SparkContext._active_spark_context
variable = context.range(1, numSlices=1).map(lambda _: os.environ.get("OF_THE_PROGRAM")).first()
print(json.dumps({{
    "used": SparkContext._gateway.proc is process, "ended": process.poll() is not None, "left": len(prewarm._early),
    "rows": [list(row) for row in rows], "variable": variable, "memory": context.getConf().get("spark.driver.memory"),
}}))
"""


def said_by(directory: Path, between: str, *options: str) -> dict[str, Any]:
    """Run the program with lines between the environment and its job; return what it prints at the end."""
    program = directory / "program.py"
    program.write_text(PROGRAM.format(between=between))
    command = [sys.executable, "-m", "scurry", "run", *options, str(program)]
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYSPARK_", "SPARK_"))}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=kept)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_the_session_uses_it(tmp_path: Path) -> None:
    said = said_by(tmp_path, "", "-D", "spark.driver.memory=1g")
    assert said == {"used": True, "ended": False, "left": 0, "rows": [[3]], "variable": None, "memory": "1g"}


def test_it_ends_unused_if_the_program_sets_what_a_jvm_reads_when_it_starts(tmp_path: Path) -> None:
    said = said_by(tmp_path, "os.environ['OF_THE_PROGRAM'] = 'x'")
    assert said == {"used": False, "ended": True, "left": 0, "rows": [[3]], "variable": "x", "memory": "2g"}
