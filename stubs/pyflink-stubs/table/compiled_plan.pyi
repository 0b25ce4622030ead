from scurry.table.compiled_plan import *
from scurry.table.explain_detail import ExplainDetail as ExplainDetail
