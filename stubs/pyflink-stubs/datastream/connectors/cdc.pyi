from scurry.datastream.connectors.cdc import *
