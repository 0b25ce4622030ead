from scurry.datastream.connectors.jdbc import *
