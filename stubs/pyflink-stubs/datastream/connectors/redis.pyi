from scurry.datastream.connectors.redis import *
