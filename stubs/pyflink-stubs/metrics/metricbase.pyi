from scurry.metrics.metricbase import *
