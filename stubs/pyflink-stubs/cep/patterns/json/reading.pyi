from scurry.cep.patterns.json.reading import *
