from scurry.datastream.data_stream.co_grouped_streams import *
