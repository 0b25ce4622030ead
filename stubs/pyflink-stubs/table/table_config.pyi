from scurry.table.table_config import *
