from scurry.cep.patterns.pattern import *
