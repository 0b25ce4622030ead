from scurry.datastream.connectors.prometheus import *
