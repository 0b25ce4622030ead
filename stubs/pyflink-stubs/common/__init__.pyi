from scurry.common import *
