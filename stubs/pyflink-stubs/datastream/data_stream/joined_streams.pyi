from scurry.datastream.data_stream.joined_streams import *
