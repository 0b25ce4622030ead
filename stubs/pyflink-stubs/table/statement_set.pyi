from scurry.table.statement_set import *
from scurry.table.compiled_plan import CompiledPlan as CompiledPlan
from scurry.table.explain_detail import ExplainDetail as ExplainDetail
from scurry.table.table_descriptor import TableDescriptor as TableDescriptor
