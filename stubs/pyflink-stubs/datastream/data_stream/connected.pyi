from scurry.datastream.data_stream.connected import *
