from scurry.datastream.connectors.elasticsearch import *
