from scurry.datastream.functions.transformations import *
