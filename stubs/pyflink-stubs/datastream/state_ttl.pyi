from scurry.datastream.state_ttl import *
