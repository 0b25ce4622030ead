"""SparkSource: a Spark DataFrame as a source. Pure data; the Spark runner reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scurry.common.typeinfo import TypeInformation

__all__ = ["SparkSource"]


@dataclass(frozen=True, eq=False)
class SparkSource:
    """The rows of a DataFrame, as Rows with the names of its columns.

    Attributes:
        dataframe: A batch or streaming `pyspark.sql.DataFrame`; opaque here, where Spark is not imported.
        columns: Names of its columns.
        bounded: Whether it is a batch DataFrame.
        produced_type: Declared type of the records, None for Rows as they come.
    """

    dataframe: Any
    columns: tuple[str, ...]
    bounded: bool
    produced_type: TypeInformation | None = None

    @classmethod
    def of(cls, dataframe: Any, produced_type: TypeInformation | None = None) -> SparkSource:
        """Describe a DataFrame.

        Raises:
            TypeError: It is no Spark DataFrame.
        """
        if not hasattr(dataframe, "isStreaming") or not hasattr(dataframe, "columns"):
            raise TypeError(f"expected a pyspark.sql.DataFrame, got {dataframe!r}")
        return cls(dataframe, tuple(dataframe.columns), not dataframe.isStreaming, produced_type)

    def channels(self, parallelism: int) -> int:
        """Return how many readers work in parallel."""
        return parallelism

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave the DataFrame on the driver: tasks get its rows."""
        return SparkSource, (None, self.columns, self.bounded, self.produced_type)
