from scurry.datastream.connectors.iceberg import *
