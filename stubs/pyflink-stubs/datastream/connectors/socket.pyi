from scurry.datastream.connectors.socket import *
