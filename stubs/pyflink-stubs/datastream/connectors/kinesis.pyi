from scurry.datastream.connectors.kinesis import *
