from scurry.datastream.functions.base import *
