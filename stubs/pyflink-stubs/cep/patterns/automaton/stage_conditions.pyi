from scurry.cep.patterns.automaton.stage_conditions import *
