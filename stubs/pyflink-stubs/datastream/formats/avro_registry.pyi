from scurry.datastream.formats.avro_registry import *
