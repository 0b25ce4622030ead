from scurry.testing.simulation.parts import *
