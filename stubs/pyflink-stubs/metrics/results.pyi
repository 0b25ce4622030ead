from scurry.metrics.results import *
