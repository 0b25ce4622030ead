from scurry.testing.simulation.simulator import *
