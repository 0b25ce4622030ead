from scurry.datastream.connectors.pubsub import *
