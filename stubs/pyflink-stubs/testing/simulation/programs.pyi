from scurry.testing.simulation.programs import *
