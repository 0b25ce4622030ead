"""The DataFrame API: `import pyflink.dataframe as pf`. A preview of Flink 2.4.

Its names and signatures are those of Flink's development version of October 2026; Flink has not released them, and may
change them. Everything is executed as the Table API executes it.
"""

from __future__ import annotations

from scurry.dataframe.context import (
    create_statement_set,
    get_or_create_table_environment,
    get_table_environment,
    set_table_environment,
)
from scurry.dataframe.convert import from_arrow, from_dict, from_pandas, from_records, from_table, range
from scurry.dataframe.dataframe import DataFrame, GroupedDataFrame, col, lit, proctime
from scurry.dataframe.dataframe_config import config
from scurry.dataframe.datatype import DataType
from scurry.dataframe.iteration import CloseableIterator

__all__ = [
    "CloseableIterator",
    "DataFrame",
    "DataType",
    "GroupedDataFrame",
    "col",
    "config",
    "create_statement_set",
    "from_arrow",
    "from_dict",
    "from_pandas",
    "from_records",
    "from_table",
    "get_or_create_table_environment",
    "get_table_environment",
    "lit",
    "proctime",
    "range",
    "set_table_environment",
]
