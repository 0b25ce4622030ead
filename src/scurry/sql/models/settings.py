"""PredictSettings: concurrency, order and time-out of the calls of a model, or of searches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from scurry._dataclasses import dataclass
from scurry.common._config.tables import (
    ML_PREDICT_MAX_CONCURRENT_OPERATIONS,
    ML_PREDICT_OUTPUT_MODE,
    ML_PREDICT_TIMEOUT,
    VECTOR_SEARCH_MAX_CONCURRENT_OPERATIONS,
    VECTOR_SEARCH_OUTPUT_MODE,
    VECTOR_SEARCH_TIMEOUT,
    TableSetting,
)
from scurry.errors import ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, boolean, one_of, whole_number
from scurry.sql.connectors.durations import duration
from scurry.sql.functions.definition import EvaluationContext

_ASYNC = TableOption("async", boolean)
_CONCURRENT = TableOption("max-concurrent-operations", whole_number)
_MODE = TableOption("output-mode", one_of(("ORDERED", "ALLOW_UNORDERED")))
_TIMEOUT = TableOption("timeout", duration)


class _Defaults(NamedTuple):
    """The settings of a session for calls whose map does not have them."""

    capacity: TableSetting[Any]
    mode: TableSetting[Any]
    timeout: TableSetting[Any]


_OF_MODELS = _Defaults(ML_PREDICT_MAX_CONCURRENT_OPERATIONS, ML_PREDICT_OUTPUT_MODE, ML_PREDICT_TIMEOUT)
_OF_SEARCHES = _Defaults(VECTOR_SEARCH_MAX_CONCURRENT_OPERATIONS, VECTOR_SEARCH_OUTPUT_MODE, VECTOR_SEARCH_TIMEOUT)


@dataclass(frozen=True)
class PredictSettings:
    """The settings of the calls of a model, or of searches.

    Attributes:
        is_async: Whether the call asks for overlapping calls, or for calls one by one; None if it does not say.
        capacity: How many calls overlap.
        is_ordered: Whether rows keep the order of the input rows.
        timeout: Seconds after which an asynchronous call fails, with all its attempts; None for never.
    """

    is_async: bool | None
    capacity: int
    is_ordered: bool
    timeout: float | None

    @classmethod
    def of_search(cls, config: Iterable[tuple[str, str]] | None, session: EvaluationContext) -> PredictSettings:
        """Return the settings of a call of VECTOR_SEARCH: its map, else `table.exec.async-vector-search.*`.

        Raises:
            ValidationError: A value cannot be used.
        """
        return cls.of(config, session, _OF_SEARCHES)

    @classmethod
    def of(
        cls,
        config: Iterable[tuple[str, str]] | None,
        session: EvaluationContext,
        defaults: _Defaults = _OF_MODELS,
    ) -> PredictSettings:
        """Return the settings of a call: its map, else the options `table.exec.async-ml-predict.*`.

        Args:
            config: The map of the call; keys that are no settings are ignored, as in Flink.

        Raises:
            ValidationError: A value cannot be used.
        """
        options = Options(dict(config or ()))
        found = options.find(_CONCURRENT)
        capacity = session.get(defaults.capacity) if found is None else found
        if capacity < 1:
            raise ValidationError(
                f"Invalid runtime config option '{_CONCURRENT.key}'. Its value should be positive integer but was "
                f"{capacity}."
            )
        mode = options.find(_MODE) or session.get(defaults.mode)
        timeout = options.find(_TIMEOUT)
        timeout = session.get(defaults.timeout) if timeout is None else timeout
        return cls(options.find(_ASYNC), capacity, mode == "ORDERED", timeout / 1000 or None)
