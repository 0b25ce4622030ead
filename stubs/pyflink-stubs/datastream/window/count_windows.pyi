from scurry.datastream.window.count_windows import *
