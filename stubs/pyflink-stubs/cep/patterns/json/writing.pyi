from scurry.cep.patterns.json.writing import *
