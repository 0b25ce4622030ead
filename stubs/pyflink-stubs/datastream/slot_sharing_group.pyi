from scurry.datastream.slot_sharing_group import *
