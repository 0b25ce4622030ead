from scurry.table.model import *
