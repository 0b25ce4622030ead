from scurry.datastream.window.session_windows import *
