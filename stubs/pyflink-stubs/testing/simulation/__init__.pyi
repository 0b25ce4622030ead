from scurry.testing.simulation import *
