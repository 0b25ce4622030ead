from scurry.testing.snapshot import *
