from scurry.cep.patterns.skip_strategies import *
