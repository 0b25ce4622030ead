from scurry.testing.simulation.schedules import *
