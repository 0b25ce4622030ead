"""Placeholders for the Table API and SQL, which are not available yet."""

from __future__ import annotations

from typing import Any, NoReturn

from scurry.errors import UnsupportedError

__all__ = ["StreamTableEnvironment", "TableEnvironment"]


class TableEnvironment:
    """Flink's TableEnvironment; the Table API and SQL are not available yet."""

    @staticmethod
    def create(*args: Any, **kwargs: Any) -> NoReturn:
        """Raise an error, because the Table API is not available yet.

        Raises:
            UnsupportedError: Always.
        """
        raise UnsupportedError(
            "the Table API and SQL are not available in this version of scurry; use the DataStream API "
            "(scurry.datastream), or Spark SQL together with env.from_spark(...) and DataStream.to_spark(...)"
        )


class StreamTableEnvironment(TableEnvironment):
    """Flink's StreamTableEnvironment; not available yet."""
