from scurry.common.serialization import *
