from scurry.common.configuration import *
