from scurry.datastream.data_stream.cached import *
