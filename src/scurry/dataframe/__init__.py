"""The DataFrame API: `import pyflink.dataframe as pf`. A preview of Flink 2.4.

Its names and signatures are those of Flink's development version of October 2026; Flink has not released them, and may
change them. Everything is executed as the Table API executes it.
"""

from __future__ import annotations

from scurry.dataframe.catalog import (
    create_catalog,
    get_catalog,
    get_current_catalog,
    get_current_database,
    list_catalogs,
    list_databases,
    use_catalog,
    use_database,
)
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
from scurry.dataframe.io import read_catalog_table, read_generic, read_json, read_kafka, read_parquet
from scurry.dataframe.iteration import CloseableIterator
from scurry.dataframe.model_provider import (
    GenericProvider,
    ModelProvider,
    OpenAIProvider,
    TritonProvider,
    list_model_providers,
    set_default_model_provider,
    set_model_provider,
)
from scurry.dataframe.over_window import (
    CURRENT_ROW,
    UNBOUNDED,
    UNBOUNDED_FOLLOWING,
    UNBOUNDED_PRECEDING,
    following,
    preceding,
)
from scurry.dataframe.sql import sql
from scurry.dataframe.udaf import udaf
from scurry.dataframe.udf import udf
from scurry.dataframe.udtf import udtf

__all__ = [
    "CURRENT_ROW",
    "UNBOUNDED",
    "UNBOUNDED_FOLLOWING",
    "UNBOUNDED_PRECEDING",
    "CloseableIterator",
    "DataFrame",
    "DataType",
    "GenericProvider",
    "GroupedDataFrame",
    "ModelProvider",
    "OpenAIProvider",
    "TritonProvider",
    "col",
    "config",
    "create_catalog",
    "create_statement_set",
    "following",
    "from_arrow",
    "from_dict",
    "from_pandas",
    "from_records",
    "from_table",
    "get_catalog",
    "get_current_catalog",
    "get_current_database",
    "get_or_create_table_environment",
    "get_table_environment",
    "list_catalogs",
    "list_databases",
    "list_model_providers",
    "lit",
    "preceding",
    "proctime",
    "range",
    "read_catalog_table",
    "read_generic",
    "read_json",
    "read_kafka",
    "read_parquet",
    "set_default_model_provider",
    "set_model_provider",
    "set_table_environment",
    "sql",
    "udaf",
    "udf",
    "udtf",
    "use_catalog",
    "use_database",
]
