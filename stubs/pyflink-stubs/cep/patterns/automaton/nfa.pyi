from scurry.cep.patterns.automaton.nfa import *
