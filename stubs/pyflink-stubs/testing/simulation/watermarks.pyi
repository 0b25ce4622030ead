from scurry.testing.simulation.watermarks import *
