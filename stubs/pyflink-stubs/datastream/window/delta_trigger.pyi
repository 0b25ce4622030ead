from scurry.datastream.window.delta_trigger import *
