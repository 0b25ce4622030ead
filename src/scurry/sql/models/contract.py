"""The contract of model providers: a factory per `'provider' = ...`, which makes the function of a model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar

from scurry._dataclasses import dataclass
from scurry.connectors.lookup_cache import CacheSettings
from scurry.errors import ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, refuse_unsupported, whole_number
from scurry.sql.connectors.durations import duration
from scurry.sql.types import DataType

#: The values of the columns that a model takes, or returns.
Row = tuple[Any, ...]


CACHE_MAX_ROWS = TableOption(
    "cache.max-rows", whole_number, description="How many answers a task keeps, by input row; without it, none."
)
CACHE_EXPIRE_AFTER_WRITE = TableOption(
    "cache.expire-after-write", duration, description="How long after it came an answer is forgotten."
)


@dataclass(frozen=True)
class ModelContext:
    """A model as its provider sees it.

    Attributes:
        name: Its full name.
        inputs: Names and types of the columns that it takes.
        outputs: Names and types of the columns that it returns.
        options: Options of WITH.
    """

    name: str
    inputs: tuple[tuple[str, DataType], ...]
    outputs: tuple[tuple[str, DataType], ...]
    options: Mapping[str, str] = field(default_factory=dict, repr=False)


class PredictFunction:
    """The function of a model, which each task makes for itself (Flink's PredictFunction and AsyncPredictFunction).

    Attributes:
        is_async: Whether its calls overlap: `predict_async` is called, up to `max-concurrent-operations` times at once.
        batch_size: The most rows of one call; None for all that there are.
        cache: Settings of the cache of its answers, by input row; None for none.
    """

    is_async: bool = False
    batch_size: int | None = None
    cache: CacheSettings | None = None

    def open(self) -> None:
        """Prepare calls."""

    def close(self) -> None:
        """Release the resources of `open`."""

    def predict(self, rows: Sequence[Row]) -> Sequence[Sequence[Row]]:
        """Return the rows that the model returns for each of some rows."""
        raise NotImplementedError

    async def predict_async(self, rows: Sequence[Row]) -> Sequence[Sequence[Row]]:
        """Return the rows that the model returns for each of some rows."""
        raise NotImplementedError


class ModelProviderFactory(ABC):
    """A kind of model.

    Attributes:
        identifier: Its name in `'provider' = ...`.
        options: The options that it declares.
        prefixes: Prefixes of the keys of further options.
        deprecated: Former names of options.
    """

    identifier: ClassVar[str]
    options: ClassVar[Sequence[TableOption[Any]]]
    prefixes: ClassVar[Sequence[str]] = ()
    deprecated: ClassVar[Mapping[str, str]] = {}

    @abstractmethod
    def create(self, context: ModelContext, options: Options) -> PredictFunction:
        """Return the function of a model, not opened.

        Raises:
            ValidationError: The model has other columns than the provider can fill, or an option is wrong.
        """

    @property
    def declared(self) -> Sequence[TableOption[Any]]:
        """The options of its models, those that all providers have among them."""
        return (*self.options, CACHE_MAX_ROWS, CACHE_EXPIRE_AFTER_WRITE)

    def function(self, context: ModelContext) -> PredictFunction:
        """Return the function of a model, not opened.

        Raises:
            ValidationError: The model has other columns than the provider can fill, or an option is wrong.
        """
        options = self._checked(context)
        function = self.create(context, options)
        rows = options.find(CACHE_MAX_ROWS)
        if rows is not None:
            function.cache = CacheSettings(rows, options.find(CACHE_EXPIRE_AFTER_WRITE))
        return function

    def _checked(self, context: ModelContext) -> Options:
        """Return the options of a model.

        Raises:
            ValidationError: One is unknown, missing, or has no such value.
        """
        given = {self.deprecated.get(key, key): value for key, value in context.options.items()}
        options = Options(given)
        options.check(self.declared, ("provider",))
        known = {"provider", "property-version", *(each.key for each in self.declared)}
        refuse_unsupported(
            self.identifier, (key for key in given if not key.startswith(tuple(self.prefixes) or ("\0",))), known
        )
        return options


def only_column(context: ModelContext, side: str, wanted: DataType) -> None:
    """Check that a model takes or returns one column of a type.

    Raises:
        ValidationError: It has others.
    """
    columns = context.inputs if side == "input" else context.outputs
    if len(columns) != 1:
        names = ", ".join(name for name, _ in columns)
        raise ValidationError(
            f"Model should have exactly one {side} physical column, but actually has {len(columns)} physical columns: "
            f"[{names}]"
        )
    name, data_type = columns[0]
    if data_type.nullable() != wanted.nullable():
        raise ValidationError(
            f"{side} column {name} should be {wanted.nullable().as_summary_string()}, but is a "
            f"{data_type.as_summary_string()}."
        )
