from scurry.common.execution_config import *
