from scurry.cep.pattern_stream import *
