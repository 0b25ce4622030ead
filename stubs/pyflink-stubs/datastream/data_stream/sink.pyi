from scurry.datastream.data_stream.sink import *
