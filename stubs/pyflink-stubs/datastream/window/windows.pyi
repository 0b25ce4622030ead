from scurry.datastream.window.windows import *
