"""The provider `onnx`: a network of ONNX."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from scurry.errors import ExtraMissingError, ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, whole_number
from scurry.sql.models.contract import ModelContext, ModelProviderFactory, PredictFunction, Row
from scurry.sql.models.rows import row_of

PATH = TableOption("path", str, required=True, description="The file of the network.")
BATCH_SIZE = TableOption("batch-size", whole_number, description="The most rows of one call; else all there are.")

#: The types of tensors as NumPy names them.
_TYPES = {
    "tensor(float)": "float32",
    "tensor(float16)": "float16",
    "tensor(double)": "float64",
    "tensor(int8)": "int8",
    "tensor(int16)": "int16",
    "tensor(int32)": "int32",
    "tensor(int64)": "int64",
    "tensor(uint8)": "uint8",
    "tensor(bool)": "bool",
    "tensor(string)": "object",
}


class OnnxFactory(ModelProviderFactory):
    """Make the function of a network."""

    identifier = "onnx"
    options: ClassVar[Sequence[TableOption[Any]]] = (PATH, BATCH_SIZE)

    def create(self, context: ModelContext, options: Options) -> PredictFunction:
        """Return the function of the network that the options name."""
        path = options.get(PATH)
        if not Path(path).is_file():
            raise ValidationError(f"'{PATH.key}' = '{path}': there is no such file")
        _runtime()
        return _Network(path, [name for name, _ in context.outputs], options.find(BATCH_SIZE))


class _Network(PredictFunction):
    """Run a network over arrays of rows.

    A network with one input gets all columns as one matrix, another one a tensor for each column. Its outputs are the
    columns; a single output is split into them if there are several.
    """

    def __init__(self, path: str, outputs: Sequence[str], batch_size: int | None) -> None:
        self._path = path
        self._outputs = outputs
        self.batch_size = batch_size

    def open(self) -> None:
        self._session = _runtime().InferenceSession(self._path, providers=["CPUExecutionProvider"])
        self._inputs = self._session.get_inputs()

    def predict(self, rows: Sequence[Row]) -> Sequence[Sequence[Row]]:
        import numpy as np

        if not rows:
            return []
        columns = list(zip(*rows, strict=True))
        if len(self._inputs) == 1:
            given = {self._inputs[0].name: np.array(rows, dtype=_type_of(self._inputs[0]))}
            if len(columns) == 1 and isinstance(rows[0][0], list):  # a vector for each row
                given = {self._inputs[0].name: np.array(list(columns[0]), dtype=_type_of(self._inputs[0]))}
        elif len(self._inputs) == len(columns):
            given = {
                each.name: np.array(column, dtype=_type_of(each)).reshape(len(rows), -1)
                for each, column in zip(self._inputs, columns, strict=True)
            }
        else:
            raise ValueError(f"the network has {len(self._inputs)} inputs, the model {len(columns)} input columns")
        return self._rows(self._session.run(None, given), len(rows))

    def _rows(self, results: Sequence[Any], count: int) -> Sequence[Sequence[Row]]:
        import numpy as np

        tensors = [np.asarray(each) for each in results[: len(self._outputs)]]
        if len(self._outputs) == 1 or len(results) == 1:
            values = tensors[0].reshape(count, -1).tolist()
            is_single = len(self._outputs) == 1 and len(values[0]) == 1
            return [[row_of(value[0] if is_single else value, self._outputs)] for value in values]
        lists = [each.reshape(count, -1).tolist() for each in tensors]
        return [
            [row_of(tuple(each[row][0] if len(each[row]) == 1 else each[row] for each in lists), self._outputs)]
            for row in range(count)
        ]


def _type_of(tensor: Any) -> str:
    found = _TYPES.get(tensor.type)
    if found is None:
        raise ValueError(f"the network's input {tensor.name} is of type {tensor.type}, which no column has")
    return found


def _runtime() -> Any:
    try:
        import onnxruntime  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError as error:
        raise ExtraMissingError("models of the provider 'onnx' need onnxruntime; pip install 'scurry[onnx]'") from error
    return onnxruntime
