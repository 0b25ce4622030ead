from scurry.datastream.checkpoint_storage import *
