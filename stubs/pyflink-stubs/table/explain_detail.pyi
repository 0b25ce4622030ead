from scurry.table.explain_detail import *
