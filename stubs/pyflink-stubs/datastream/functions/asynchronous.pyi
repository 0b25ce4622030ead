from scurry.datastream.functions.asynchronous import *
