from scurry.datastream.window.time_windows import *
