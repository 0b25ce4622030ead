from scurry.datastream.data_stream.keyed import *
