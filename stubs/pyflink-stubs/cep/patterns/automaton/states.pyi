from scurry.cep.patterns.automaton.states import *
