from scurry.common.watermark_strategy import *
from scurry.common.time import Duration as Duration
