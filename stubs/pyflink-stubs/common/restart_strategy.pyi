from scurry.common.restart_strategy import *
