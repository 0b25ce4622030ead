from scurry.testing.replaying import *
