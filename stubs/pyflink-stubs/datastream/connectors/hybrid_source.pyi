from scurry.datastream.connectors.hybrid_source import *
