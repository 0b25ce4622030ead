from scurry.datastream.data_stream.interval_join import *
