from scurry.cep.patterns.conditions import *
