from scurry.datastream.window.composed_triggers import *
