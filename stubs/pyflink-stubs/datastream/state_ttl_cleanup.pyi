from scurry.datastream.state_ttl_cleanup import *
