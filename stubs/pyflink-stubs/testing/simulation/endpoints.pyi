from scurry.testing.simulation.endpoints import *
