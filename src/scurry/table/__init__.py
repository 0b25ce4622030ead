"""PyFlink's `pyflink.table`: SQL, user-defined functions, and tables made of expressions."""

from __future__ import annotations

from typing import Any

from scurry.common.types import Row, RowKind
from scurry.table.changelog_mode import ChangelogMode
from scurry.table.compiled_plan import CompiledPlan
from scurry.table.data_view import DataView, ListView, MapView
from scurry.table.environment_settings import EnvironmentSettings
from scurry.table.explain_detail import ExplainDetail
from scurry.table.model_descriptor import ModelDescriptor
from scurry.table.module import Module, ModuleEntry
from scurry.table.plan_reference import PlanReference
from scurry.table.result_kind import ResultKind
from scurry.table.schema import Schema
from scurry.table.sql_dialect import SqlDialect
from scurry.table.statement_set import StatementSet
from scurry.table.table import GroupedTable, GroupWindowedTable, OverWindowedTable, Table, WindowGroupedTable
from scurry.table.table_config import TableConfig
from scurry.table.table_descriptor import FormatDescriptor, TableDescriptor
from scurry.table.table_environment import StreamTableEnvironment, TableEnvironment
from scurry.table.table_pipeline import TablePipeline
from scurry.table.table_result import TableResult
from scurry.table.table_schema import TableSchema
from scurry.table.types import DataTypes, UserDefinedType
from scurry.table.udf import (
    AggregateFunction,
    AsyncScalarFunction,
    FunctionContext,
    ScalarFunction,
    TableAggregateFunction,
    TableFunction,
)

__all__ = [
    "AggregateFunction",
    "AsyncScalarFunction",
    "ChangelogMode",
    "CompiledPlan",
    "DataTypes",
    "DataView",
    "EnvironmentSettings",
    "ExplainDetail",
    "FormatDescriptor",
    "Expression",
    "FunctionContext",
    "GroupWindowedTable",
    "GroupedTable",
    "ListView",
    "MapView",
    "ModelDescriptor",
    "Module",
    "ModuleEntry",
    "OverWindowedTable",
    "PlanReference",
    "ResultKind",
    "Row",
    "RowKind",
    "ScalarFunction",
    "Schema",
    "SqlDialect",
    "StatementSet",
    "StreamTableEnvironment",
    "Table",
    "TableAggregateFunction",
    "TableConfig",
    "TableDescriptor",
    "TableEnvironment",
    "TableFunction",
    "TablePipeline",
    "TableResult",
    "TableSchema",
    "UserDefinedType",
    "WindowGroupedTable",
]


def __getattr__(name: str) -> Any:
    if name == "Expression":  # with the syntax of SQL, which programs of SQL texts load when they run one
        from scurry.table.expression import Expression

        return Expression
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
