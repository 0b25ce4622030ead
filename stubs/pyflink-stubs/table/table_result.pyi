from scurry.table.table_result import *
