from scurry.testing.tables import *
