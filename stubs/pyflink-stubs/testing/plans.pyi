from scurry.testing.plans import *
