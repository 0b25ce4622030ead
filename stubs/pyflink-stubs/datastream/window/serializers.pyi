from scurry.datastream.window.serializers import *
