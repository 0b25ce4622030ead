from scurry.testing.kafka import *
