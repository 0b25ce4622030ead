"""The provider `sklearn`: an estimator of scikit-learn, of a file or of a module."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from scurry.errors import ExtraMissingError, ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, one_of, whole_number
from scurry.sql.models.contract import ModelContext, ModelProviderFactory, PredictFunction, Row
from scurry.sql.models.rows import imported, row_of

PATH = TableOption("path", str, description="A file of the estimator, written by `joblib.dump` or `pickle.dump`.")
OBJECT = TableOption("object", str, description="Module and name of the estimator, in place of a file.")
METHOD = TableOption(
    "method",
    one_of(("predict", "predict_proba", "decision_function", "transform")),
    "predict",
    description="What is called.",
)
BATCH_SIZE = TableOption("batch-size", whole_number, description="The most rows of one call; else all there are.")


class SklearnFactory(ModelProviderFactory):
    """Make the function of an estimator."""

    identifier = "sklearn"
    options: ClassVar[Sequence[TableOption[Any]]] = (PATH, OBJECT, METHOD, BATCH_SIZE)

    def create(self, context: ModelContext, options: Options) -> PredictFunction:
        """Return the function of the estimator that the options name."""
        path, name = options.find(PATH), options.find(OBJECT)
        if (path is None) == (name is None):
            raise ValidationError(f"a model of the provider 'sklearn' has either '{PATH.key}' or '{OBJECT.key}'")
        if path is not None and not Path(path).is_file():
            raise ValidationError(f"'{PATH.key}' = '{path}': there is no such file")
        if name is not None:
            imported(name, OBJECT.key)
        return _Estimator(
            path, name, options.get(METHOD), [each for each, _ in context.outputs], options.find(BATCH_SIZE)
        )


class _Estimator(PredictFunction):
    """Call an estimator with arrays of rows."""

    def __init__(
        self, path: str | None, name: str | None, method: str, outputs: Sequence[str], batch_size: int | None
    ) -> None:
        self._path = path
        self._name = name
        self._method = method
        self._outputs = outputs
        self.batch_size = batch_size

    def open(self) -> None:
        estimator = imported(self._name, OBJECT.key) if self._name is not None else _loaded(str(self._path))
        self._call = getattr(estimator, self._method, None)
        if not callable(self._call):
            raise ValidationError(f"{type(estimator).__name__} has no method '{self._method}'")

    def predict(self, rows: Sequence[Row]) -> Sequence[Sequence[Row]]:
        import numpy as np

        if not rows:
            return []
        given = np.array([list(row) for row in rows], dtype=None if _is_numeric(rows[0]) else object)
        results = np.asarray(self._call(given))  # type: ignore[misc]
        if len(results) != len(rows):
            raise ValueError(f"{self._method} returned {len(results)} results for {len(rows)} rows")
        values = results.tolist()
        if len(self._outputs) == 1 and results.ndim == 2 and results.shape[1] == 1:
            values = [value for (value,) in values]
        return [[row_of(value, self._outputs)] for value in values]


def _is_numeric(row: Row) -> bool:
    return all(isinstance(value, int | float) for value in row)


def _loaded(path: str) -> Any:
    """Return the object of a file: of joblib if it is installed, else of pickle."""
    try:
        import joblib  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        try:
            with Path(path).open("rb") as file:
                return pickle.load(file)
        except ImportError as error:
            raise _missing(path, error) from error
    try:
        return joblib.load(path)
    except ImportError as error:
        raise _missing(path, error) from error


def _missing(path: str, error: ImportError) -> ExtraMissingError:
    return ExtraMissingError(f"the model of {path} cannot be loaded: {error}; pip install 'scurry[sklearn]'")
