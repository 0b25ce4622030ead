from scurry.table import *
