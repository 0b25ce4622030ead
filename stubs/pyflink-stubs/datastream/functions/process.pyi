from scurry.datastream.functions.process import *
