from scurry.datastream.connectors.dynamic_kafka import *
