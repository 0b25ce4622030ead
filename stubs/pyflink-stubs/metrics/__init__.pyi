from scurry.metrics import *
