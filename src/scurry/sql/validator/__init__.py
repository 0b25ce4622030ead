"""The validator: a syntax tree and a catalog become a typed relational plan, or an error with line and column.

queries        set operations, VALUES, WITH, ORDER BY and LIMIT
select         SELECT, from FROM to QUALIFY
tables         what stands in FROM
expressions    names, operators, calls and subqueries
grouping, over aggregates of groups and over windows
scope          which columns names mean
"""

from __future__ import annotations

from scurry.sql.validator.catalog import CatalogColumn, CatalogPlan, CatalogReader, CatalogTable, CatalogView
from scurry.sql.validator.queries import validate_expression, validate_query
from scurry.sql.validator.types import data_type

__all__ = [
    "CatalogColumn",
    "CatalogPlan",
    "CatalogReader",
    "CatalogTable",
    "CatalogView",
    "data_type",
    "validate_expression",
    "validate_query",
]
