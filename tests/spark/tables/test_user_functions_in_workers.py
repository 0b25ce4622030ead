"""Functions of users in tables on Spark: in BATCH and STREAMING, from modules beside the program."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.spark

MODULE = """
from pyflink.table import AggregateFunction, DataTypes, ScalarFunction
from pyflink.table.udf import udf

@udf(result_type=DataTypes.BIGINT())
def triple(x):
    return 3 * x

class Shifted(ScalarFunction):
    def open(self, context):
        self.by = 100

    def eval(self, x):
        return x + self.by

class Weighted(AggregateFunction):
    def create_accumulator(self):
        return [0, 0]

    def accumulate(self, accumulator, value, weight):
        accumulator[0] += value * weight
        accumulator[1] += weight

    def get_value(self, accumulator):
        return accumulator[0] / accumulator[1]

    def get_result_type(self):
        return DataTypes.DOUBLE()

    def get_accumulator_type(self):
        return DataTypes.ARRAY(DataTypes.BIGINT())
"""
PROGRAM = """
import json, sys
import own_module
from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.udf import udaf, udf, udtf

batch = sys.argv[1] == "batch"
env = TableEnvironment.create(
    EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
)
env.execute_sql("CREATE TEMPORARY FUNCTION triple AS 'own_module.triple' LANGUAGE PYTHON")
env.create_temporary_function("shifted", udf(own_module.Shifted(), result_type=DataTypes.BIGINT()))
env.create_temporary_function("added", udf(lambda a, b: a + b, result_type=DataTypes.BIGINT(), func_type="pandas"))
env.create_temporary_function("counted", udtf(lambda n: range(n), result_types=DataTypes.BIGINT()))
env.create_temporary_function("inverse", udf(lambda n: 1 / (n - 3), result_type=DataTypes.DOUBLE()))
env.create_temporary_function("weighted", own_module.Weighted())
env.create_temporary_function("mean", udaf(lambda v: v.mean(), result_type="DOUBLE", func_type="pandas"))

def rows(query):
    with env.execute_sql(query).collect() as found:
        return sorted(list(row) for row in found)

VALUES = "(VALUES ('a', 1), ('a', 2), ('b', 3)) t(k, v)"
found = {
    "scalar": rows(f"SELECT triple(v), shifted(v), added(v, v) FROM {VALUES} WHERE triple(v) > 3"),
    "table": rows(f"SELECT k, x FROM {VALUES}, LATERAL TABLE(counted(v)) AS z(x)"),
}
if batch:
    found["aggregate"] = rows(f"SELECT k, weighted(v, v), mean(v), SUM(v) FROM {VALUES} GROUP BY k")
try:
    rows(f"SELECT inverse(v) FROM {VALUES}")
except Exception as error:
    found["error"] = str(error)
print(json.dumps(found))
"""


@pytest.mark.parametrize("mode", ["batch", "streaming"])
def test_functions_run_in_workers(mode: str, tmp_path: Path) -> None:
    (tmp_path / "own_module.py").write_text(MODULE)
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = [sys.executable, "-m", "scurry", "run", "--runner", "spark", "--parallelism", "2", str(program), mode]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout.splitlines()[-1])
    assert found["scalar"] == [[6, 102, 4], [9, 103, 6]]
    assert found["table"] == [["a", 0], ["a", 0], ["a", 1], ["b", 0], ["b", 1], ["b", 2]]
    if mode == "batch":
        assert found["aggregate"] == [["a", 5 / 3, 1.5, 3], ["b", 3.0, 3.0, 3]]
    assert "ZeroDivisionError" in found["error"] and "udf(lambda n: 1 / (n - 3)" in found["error"]
    assert "in function '<lambda>'" in found["error"] and ": 3}" in found["error"]
