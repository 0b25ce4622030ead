from scurry.metrics.scopes import *
