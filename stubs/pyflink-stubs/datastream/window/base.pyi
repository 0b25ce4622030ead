from scurry.datastream.window.base import *
