from scurry.table.table import *
from scurry.table.explain_detail import ExplainDetail as ExplainDetail
from scurry.table.expression import Expression as Expression
from scurry.table.expressions import col as col
from scurry.table.expressions import with_columns as with_columns
from scurry.table.expressions import without_columns as without_columns
from scurry.table.table_descriptor import TableDescriptor as TableDescriptor
from scurry.table.window import GroupWindow as GroupWindow
from scurry.table.window import OverWindow as OverWindow
