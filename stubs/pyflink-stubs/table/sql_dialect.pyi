from scurry.table.sql_dialect import *
