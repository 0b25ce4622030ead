"""The nodes of a relational plan.

Nodes are frozen and know the names and types of their columns. Expressions in them refer to columns of the inputs by
position; those of a join count the left columns first. The functions of `builders` make nodes and check them.
"""

from __future__ import annotations

from scurry.relational.plan.aggregates import Aggregate, Over, TableAggregate, WindowTable
from scurry.relational.plan.base import OneInput, Plan, TwoInputs, walk
from scurry.relational.plan.joins import Correlate, Join, TemporalJoin, joined_schema
from scurry.relational.plan.rows import Filter, Limit, Project, SetOperation, Sort, SortKey, TableFunctionScan, Unnest
from scurry.relational.plan.tables import Scan, Sink, Values

__all__ = [
    "Aggregate",
    "Correlate",
    "Filter",
    "Join",
    "Limit",
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
