from scurry.datastream import *
