from scurry.cep.patterns.automaton.compiler import *
