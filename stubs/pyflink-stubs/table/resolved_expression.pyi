from scurry.table.resolved_expression import *
from scurry.table.expression import Expression as Expression
from scurry.table.types import DataType as DataType
