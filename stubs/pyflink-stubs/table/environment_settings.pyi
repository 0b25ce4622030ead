from scurry.table.environment_settings import *
