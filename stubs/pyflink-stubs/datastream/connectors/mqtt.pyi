from scurry.datastream.connectors.mqtt import *
