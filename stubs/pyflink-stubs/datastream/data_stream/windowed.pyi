from scurry.datastream.data_stream.windowed import *
