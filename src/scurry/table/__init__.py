"""PyFlink's `pyflink.table`: the types that file formats need; the Table API itself is not available yet."""

from __future__ import annotations

from scurry.common.types import Row, RowKind
from scurry.table.table_environment import StreamTableEnvironment, TableEnvironment
from scurry.table.types import DataTypes

__all__ = ["DataTypes", "Row", "RowKind", "StreamTableEnvironment", "TableEnvironment"]
