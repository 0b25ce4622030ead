from scurry.common.io import *
