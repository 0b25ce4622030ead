from scurry.datastream.functions.joins import *
