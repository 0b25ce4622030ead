from scurry.cep.patterns import *
