from scurry.common.pickling import *
