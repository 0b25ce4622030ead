from scurry.datastream.connectors.log import *
