from scurry.table.table_descriptor import *
from scurry.common.config_options import ConfigOption as ConfigOption
