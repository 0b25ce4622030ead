from scurry.common.config_options import *
