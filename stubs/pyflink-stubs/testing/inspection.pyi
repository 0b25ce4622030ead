from scurry.testing.inspection import *
