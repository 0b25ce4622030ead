from scurry.datastream.checkpoint_config import *
