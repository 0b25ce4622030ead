from scurry.table.type_conversion import *
