from scurry.table.partitioned_table import *
