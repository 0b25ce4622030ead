from scurry.datastream.functions.broadcast import *
