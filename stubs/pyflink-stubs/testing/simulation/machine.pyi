from scurry.testing.simulation.machine import *
