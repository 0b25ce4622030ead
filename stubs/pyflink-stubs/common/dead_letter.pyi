from scurry.common.dead_letter import *
