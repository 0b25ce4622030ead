from scurry.datastream.data_stream.collect import *
