from scurry.common.recursion import *
