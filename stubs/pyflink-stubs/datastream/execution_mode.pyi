from scurry.datastream.execution_mode import *
