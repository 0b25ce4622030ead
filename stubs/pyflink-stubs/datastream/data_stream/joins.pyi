from scurry.datastream.data_stream.joins import *
