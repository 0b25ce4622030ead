from scurry.table.schema import *
from scurry.table.expression import Expression as Expression
