from scurry.table.result_kind import *
