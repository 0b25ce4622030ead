from scurry.datastream.externalized_checkpoint_retention import *
