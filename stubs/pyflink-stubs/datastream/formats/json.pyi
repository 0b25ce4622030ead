from scurry.datastream.formats.json import *
