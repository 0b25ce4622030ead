from scurry.cep.patterns.quantifier import *
