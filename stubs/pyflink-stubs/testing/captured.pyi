from scurry.testing.captured import *
