from scurry.testing.simulation.jobs import *
