from scurry.common.time import *
