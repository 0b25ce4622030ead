from scurry.testing.harness import *
