from scurry.datastream.timerservice import *
