from scurry.datastream.state_backend import *
