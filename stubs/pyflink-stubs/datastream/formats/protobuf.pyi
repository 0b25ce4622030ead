from scurry.datastream.formats.protobuf import *
