from scurry.cep.patterns.automaton import *
