from scurry.table.expressions import *
