from scurry.datastream.window.evictors import *
