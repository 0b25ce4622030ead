from scurry.testing.simulation.files import *
