from scurry.table.table_pipeline import *
from scurry.table.catalog import ObjectIdentifier as ObjectIdentifier
from scurry.table.compiled_plan import CompiledPlan as CompiledPlan
from scurry.table.explain_detail import ExplainDetail as ExplainDetail
