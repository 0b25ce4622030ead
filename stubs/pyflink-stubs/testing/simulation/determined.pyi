from scurry.testing.simulation.determined import *
