from scurry.datastream.decorators import *
