from scurry.common.time_domain import *
