from scurry.datastream.functions.retries import *
