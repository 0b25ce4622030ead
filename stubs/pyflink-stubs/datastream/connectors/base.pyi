from scurry.datastream.connectors.base import *
