from scurry.datastream.formats import *
