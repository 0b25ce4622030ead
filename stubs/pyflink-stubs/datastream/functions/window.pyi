from scurry.datastream.functions.window import *
