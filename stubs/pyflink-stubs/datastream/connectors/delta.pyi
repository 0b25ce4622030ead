from scurry.datastream.connectors.delta import *
