"""SqlDialect: which SQL is read."""

from __future__ import annotations

__all__ = ["SqlDialect"]


class SqlDialect:
    """Which SQL is read: `DEFAULT`, Flink's own. `HIVE` is a name that `TableConfig.set_sql_dialect` refuses."""

    DEFAULT = 0
    HIVE = 1
