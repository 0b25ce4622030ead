from scurry.testing.inputs import *
