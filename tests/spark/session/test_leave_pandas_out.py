"""The driver imports pandas only where a program uses it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys

from scurry.common import Types
from scurry.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection(["a", "b"]).map(lambda word: word, Types.STRING()).print()
env.execute()
print("imported", "pandas" in sys.modules, "unittest" in sys.modules)

import numpy
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.getOrCreate()
values = [numpy.int64(7), numpy.array([1.5, 2.5])]
print("converted", [list(row) for row in spark.range(1).select(*map(F.lit, values)).collect()])
same = spark.range(3).mapInPandas(lambda frames: frames, "id long")
print("pandas", spark.range(3).toPandas()["id"].sum(), same.count())
"""


@pytest.mark.spark
def test_a_job_leaves_pandas_to_the_program(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = [sys.executable, "-m", "scurry", "run", "--parallelism", "1", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-3:] == [
        "imported False False",
        "converted [[7, [1.5, 2.5]]]",
        "pandas 3 3",
    ]


UNINSTALLED = """
import importlib.metadata

from scurry.spark.session.leave_pandas_out import leave_pandas_out

leave_pandas_out()
leave_pandas_out()
installed = importlib.metadata.version
importlib.metadata.version = lambda name: "2.1.4" if name == "pandas" else installed(name)
import pyspark.sql.pandas.functions as functions

asked = functions.require_minimum_pandas_version.asked
assert not hasattr(asked, "asked"), "wrapped twice"
import sys

functions.require_minimum_pandas_version()
print("pandas" in sys.modules)
"""


def test_pyspark_looks_at_a_pandas_that_it_may_refuse() -> None:
    said = subprocess.check_output([sys.executable, "-W", "ignore", "-c", UNINSTALLED], text=True)
    assert said == "True\n"
