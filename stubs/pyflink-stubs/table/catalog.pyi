from scurry.table.catalog import *
from scurry.table.resolved_expression import ResolvedExpression as ResolvedExpression
from scurry.table.schema import Schema as Schema
from scurry.table.table_schema import TableSchema as TableSchema
from scurry.table.types import DataType as DataType
