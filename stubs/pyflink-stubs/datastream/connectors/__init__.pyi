from scurry.datastream.connectors import *
