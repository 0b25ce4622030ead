from scurry.datastream.connectors.pulsar import *
