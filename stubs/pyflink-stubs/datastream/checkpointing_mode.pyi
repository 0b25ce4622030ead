from scurry.datastream.checkpointing_mode import *
