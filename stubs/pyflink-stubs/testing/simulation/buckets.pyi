from scurry.testing.simulation.buckets import *
