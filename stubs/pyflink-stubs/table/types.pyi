from scurry.table.types import *
