from scurry.testing.simulation.event_loop import *
