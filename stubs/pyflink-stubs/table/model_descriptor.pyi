from scurry.table.model_descriptor import *
