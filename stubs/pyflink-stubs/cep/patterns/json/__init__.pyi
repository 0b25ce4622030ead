from scurry.cep.patterns.json import *
