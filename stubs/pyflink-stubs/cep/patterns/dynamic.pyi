from scurry.cep.patterns.dynamic import *
