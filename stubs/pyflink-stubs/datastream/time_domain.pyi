from scurry.datastream.time_domain import *
