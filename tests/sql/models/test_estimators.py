"""The providers `sklearn` and `onnx`; the libraries are extras, which need not be there."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import pytest

from scurry.errors import ValidationError
from scurry.table import TableEnvironment
from support.models.estimators import Doubling


def predicted(env: TableEnvironment, columns: str, options: str, features: str = "x") -> list[Any]:
    env.execute_sql(f"CREATE MODEL m {columns} WITH ({options})")
    env.execute_sql("CREATE TEMPORARY VIEW n (x, y) AS VALUES (1.0E0, 10.0E0), (2.0E0, 20.0E0), (3.0E0, 30.0E0)")
    found = env.execute_sql(f"SELECT * FROM ML_PREDICT(TABLE n, MODEL m, DESCRIPTOR({features}))").collect()
    return [tuple(row)[2:] for row in found]


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "model.pickle"
    path.write_bytes(pickle.dumps(Doubling(1)))
    return str(path)


def test_an_estimator_of_a_file_predicts(env: TableEnvironment, file: str) -> None:
    columns = "INPUT (a DOUBLE, b DOUBLE) OUTPUT (p DOUBLE)"
    found = predicted(env, columns, f"'provider' = 'sklearn', 'path' = '{file}'", "x, y")
    assert found == [(23.0,), (45.0,), (67.0,)]


def test_an_estimator_of_a_module_returns_columns_or_an_array(env: TableEnvironment) -> None:
    options = "'provider' = 'sklearn', 'object' = 'support.models.estimators.DOUBLING', 'method' = 'predict_proba'"
    assert predicted(env, "INPUT (a DOUBLE) OUTPUT (p DOUBLE, q DOUBLE)", options) == [
        (1.0, 0.0),
        (2.0, -1.0),
        (3.0, -2.0),
    ]
    env.execute_sql("DROP MODEL m")
    env.execute_sql("DROP TEMPORARY VIEW n")
    assert predicted(env, "INPUT (a DOUBLE) OUTPUT (p ARRAY<DOUBLE>)", options)[0] == ([1.0, 0.0],)


def test_an_estimator_gets_no_more_rows_than_it_may(env: TableEnvironment) -> None:
    Doubling.sizes.clear()
    options = "'provider' = 'sklearn', 'object' = 'support.models.estimators.DOUBLING', 'batch-size' = '2'"
    assert len(predicted(env, "INPUT (a DOUBLE) OUTPUT (p DOUBLE)", options)) == 3
    assert max(Doubling.sizes) <= 2


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("'provider' = 'sklearn'", "either 'path' or 'object'"),
        ("'provider' = 'sklearn', 'path' = '/no/such'", "there is no such file"),
        ("'provider' = 'sklearn', 'object' = 'support.models.nope'", "Cannot load 'object'"),
        (
            "'provider' = 'sklearn', 'path' = '/no/such', 'method' = 'fit'",
            "Could not parse value 'fit' for key 'method'",
        ),
        ("'provider' = 'onnx', 'path' = '/no/such'", "there is no such file"),
        ("'provider' = 'onnx'", "Missing required options are: path"),
    ],
)
def test_wrong_options_are_refused(env: TableEnvironment, options: str, says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        predicted(env, "INPUT (a DOUBLE) OUTPUT (p DOUBLE)", options)


def test_a_missing_library_names_its_extra(env: TableEnvironment, file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ValidationError, match=r"need onnxruntime; pip install 'scurry\[onnx\]'"):
        predicted(env, "INPUT (a DOUBLE) OUTPUT (p DOUBLE)", f"'provider' = 'onnx', 'path' = '{file}'")


def test_a_regression_of_scikit_learn_predicts(env: TableEnvironment, tmp_path: Path) -> None:
    linear, joblib = pytest.importorskip("sklearn.linear_model"), pytest.importorskip("joblib")
    path = tmp_path / "price.joblib"
    joblib.dump(linear.LinearRegression().fit([[0, 0], [1, 0], [0, 1]], [5, 7, 8]), path)
    columns = "INPUT (a DOUBLE, b DOUBLE) OUTPUT (p DOUBLE)"
    found = predicted(env, columns, f"'provider' = 'sklearn', 'path' = '{path}'", "x, y")
    assert [row[0] for row in found] == pytest.approx([37.0, 69.0, 101.0])


@pytest.mark.parametrize("inputs", [1, 2])
def test_a_network_of_onnx_predicts(env: TableEnvironment, tmp_path: Path, inputs: int) -> None:
    pytest.importorskip("onnxruntime")
    onnx = pytest.importorskip("onnx")
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    if inputs == 1:  # both columns are one matrix
        nodes = [helper.make_node("ReduceSum", ["m", "axes"], ["sum"], keepdims=1)]
        given = [helper.make_tensor_value_info("m", kind, [None, 2])]
        constants = [helper.make_tensor("axes", onnx.TensorProto.INT64, [1], [1])]
    else:
        nodes = [helper.make_node("Add", ["a", "b"], ["sum"])]
        given = [helper.make_tensor_value_info(name, kind, [None, 1]) for name in "ab"]
        constants = []
    result = [helper.make_tensor_value_info("sum", kind, [None, 1])]
    graph = helper.make_graph(nodes, "sum", given, result, constants)
    path = tmp_path / "sum.onnx"
    path.write_bytes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    )
    columns = "INPUT (a DOUBLE, b DOUBLE) OUTPUT (p FLOAT)"
    assert predicted(env, columns, f"'provider' = 'onnx', 'path' = '{path}'", "x, y") == [(11.0,), (22.0,), (33.0,)]
