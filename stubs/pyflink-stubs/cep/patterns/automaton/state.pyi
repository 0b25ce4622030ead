from scurry.cep.patterns.automaton.state import *
