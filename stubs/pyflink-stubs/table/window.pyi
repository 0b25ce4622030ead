from scurry.table.window import *
