"""The provider `python`: a class of Python, made once in each task."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

from scurry.errors import ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, whole_number
from scurry.sql.models.contract import ModelContext, ModelProviderFactory, PredictFunction, Row
from scurry.sql.models.retries import RETRY_OPTIONS, Retries
from scurry.sql.models.rows import imported, row_of

CLASS = TableOption("class", str, required=True, description="Module and name of the class, such as `my.module.Model`.")
BATCH_SIZE = TableOption("batch-size", whole_number, description="The most rows that `predict_batch` gets at once.")

#: The prefix of the keys of the arguments of the class.
_ARGUMENTS = "option."


class PythonFactory(ModelProviderFactory):
    """Make the function of a class."""

    identifier = "python"
    options: ClassVar[Sequence[TableOption[Any]]] = (CLASS, BATCH_SIZE, *RETRY_OPTIONS)
    prefixes = (_ARGUMENTS,)

    def create(self, context: ModelContext, options: Options) -> PredictFunction:
        """Return the function of the class that the options name."""
        made = imported(options.get(CLASS), CLASS.key)
        arguments = {
            key.removeprefix(_ARGUMENTS): value for key, value in options.values.items() if key.startswith(_ARGUMENTS)
        }
        in_batches = callable(getattr(made, "predict_batch", None))
        predict = getattr(made, "predict_batch" if in_batches else "predict", None)
        if not callable(predict):
            raise ValidationError(f"'{CLASS.key}' = '{options.get(CLASS)}': the class has no method 'predict'")
        if BATCH_SIZE in options and not in_batches:
            raise ValidationError(f"'{BATCH_SIZE.key}' is for classes with a method 'predict_batch'")
        names = [name for name, _ in context.outputs]
        is_async = inspect.iscoroutinefunction(predict)
        if inspect.isasyncgenfunction(predict):
            raise ValidationError("'predict' is an asynchronous generator: return a list of rows from predict_batch")
        size = options.find(BATCH_SIZE) if in_batches else 1
        return _OfClass(made, arguments, names, in_batches, is_async, size, Retries.of(options, "FAILOVER", 0))


class _OfClass(PredictFunction):
    """Call an object of a class."""

    def __init__(
        self,
        made: Any,
        arguments: dict[str, str],
        names: list[str],
        in_batches: bool,
        is_async: bool,
        batch_size: int | None,
        retries: Retries,
    ) -> None:
        self.is_async = is_async
        self.batch_size = batch_size if batch_size is not None or not is_async else 128
        self._made = made
        self._arguments = arguments
        self._names = names
        self._in_batches = in_batches
        self._retries = retries

    def open(self) -> None:
        """Make the object, and call its `open`."""
        self._object = self._made(**self._arguments)
        if callable(getattr(self._object, "open", None)):
            self._object.open()

    def close(self) -> None:
        """Call `close` of the object."""
        if callable(getattr(self._object, "close", None)):
            self._object.close()

    def predict(self, rows: Sequence[Row]) -> Sequence[Sequence[Row]]:
        if self._in_batches:
            return self._retries.run(lambda: self._of_batch(rows, self._object.predict_batch(list(rows))), rows)
        return [self._retries.run(partial(self._one, row), [row])[0] for row in rows]

    def _one(self, row: Row) -> Sequence[Sequence[Row]]:
        return [self._of_one(self._object.predict(*row))]

    async def predict_async(self, rows: Sequence[Row]) -> Sequence[Sequence[Row]]:
        if self._in_batches:

            async def batch() -> Sequence[Sequence[Row]]:
                return self._of_batch(rows, await self._object.predict_batch(list(rows)))

            return await self._retries.run_async(batch, rows)
        found: list[Sequence[Row]] = []
        for row in rows:

            async def one(row: Row = row) -> Sequence[Sequence[Row]]:
                return [self._of_one(await self._object.predict(*row))]

            found += await self._retries.run_async(one, [row])
        return found

    def _of_one(self, result: Any) -> Sequence[Row]:
        """Return the rows of a result: a generator yields any number of them."""
        if inspect.isgenerator(result):
            return [row_of(each, self._names) for each in result]
        return [row_of(result, self._names)]

    def _of_batch(self, rows: Sequence[Row], results: Any) -> Sequence[Sequence[Row]]:
        found = [[row_of(each, self._names)] for each in results]
        if len(found) != len(rows):
            raise ValueError(
                f"predict_batch returned {len(found)} results for {len(rows)} rows; it must return one each"
            )
        return found
