from scurry.datastream.connectors.cassandra import *
