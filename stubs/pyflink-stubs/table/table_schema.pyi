from scurry.table.table_schema import *
