from scurry.datastream.formats.orc import *
