"""The nodes of a relational plan.

Nodes are frozen and know the names and types of their columns. Expressions in them refer to columns of the inputs by
position; those of a join count the left columns first. The functions of `builders` make nodes and check them.
"""

from __future__ import annotations

from scurry.sql.plan.nodes.aggregates import Aggregate, Over, TableAggregate, WindowTable
from scurry.sql.plan.nodes.base import OneInput, Plan, TwoInputs, walk
from scurry.sql.plan.nodes.joins import Correlate, Join, LookupRetry, TemporalJoin, joined_schema
from scurry.sql.plan.nodes.rows import Filter, Limit, Project, SetOperation, Sort, SortKey, TableFunctionScan, Unnest
from scurry.sql.plan.nodes.tables import Scan, Sink, Values

__all__ = [
    "Aggregate",
    "Correlate",
    "Filter",
    "Join",
    "Limit",
    "LookupRetry",
    "OneInput",
    "Over",
    "Plan",
    "Project",
    "Scan",
    "SetOperation",
    "Sink",
    "Sort",
    "SortKey",
    "TableAggregate",
    "TableFunctionScan",
    "TemporalJoin",
    "TwoInputs",
    "Unnest",
    "Values",
    "WindowTable",
    "joined_schema",
    "walk",
]
