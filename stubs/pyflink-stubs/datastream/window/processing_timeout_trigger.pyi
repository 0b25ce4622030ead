from scurry.datastream.window.processing_timeout_trigger import *
