from scurry.common.bulk_writer import *
