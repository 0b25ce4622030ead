from scurry.datastream.connectors.mongodb import *
