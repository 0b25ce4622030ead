from scurry.datastream.window.triggers import *
