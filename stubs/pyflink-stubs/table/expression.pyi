from scurry.table.expression import *
from scurry.table.types import DataType as DataType
from scurry.table.types import DataTypes as DataTypes
