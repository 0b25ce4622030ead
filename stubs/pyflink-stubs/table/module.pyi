from scurry.table.module import *
