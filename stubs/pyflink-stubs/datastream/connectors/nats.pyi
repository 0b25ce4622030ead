from scurry.datastream.connectors.nats import *
