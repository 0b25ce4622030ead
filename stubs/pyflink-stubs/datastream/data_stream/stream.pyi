from scurry.datastream.data_stream.stream import *
