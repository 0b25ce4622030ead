from scurry.common.types import *
