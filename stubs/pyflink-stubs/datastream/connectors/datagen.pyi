from scurry.datastream.connectors.datagen import *
