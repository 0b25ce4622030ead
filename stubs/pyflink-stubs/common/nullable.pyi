from scurry.common.nullable import *
