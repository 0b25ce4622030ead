from scurry.common.output_tag import *
