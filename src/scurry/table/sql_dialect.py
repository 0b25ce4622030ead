"""SqlDialect: the dialect of SQL statements."""

from __future__ import annotations

__all__ = ["SqlDialect"]


class SqlDialect:
    """The dialect of SQL statements: `DEFAULT`, Flink's own; `TableConfig.set_sql_dialect` refuses `HIVE`."""

    DEFAULT = 0
    HIVE = 1
