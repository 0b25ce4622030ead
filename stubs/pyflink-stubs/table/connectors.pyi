from scurry.table.connectors import *
