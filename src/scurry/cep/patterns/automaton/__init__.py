"""The automaton of a pattern, with the semantics of Flink's `NFA`.

`compile_nfa` makes an `NFA` of a pattern; `NFA.process` and `NFA.advance_time` change the `NFAState` of a key.
"""

from __future__ import annotations

from scurry.cep.patterns.automaton.compiler import can_produce_empty_matches, compile_nfa
from scurry.cep.patterns.automaton.nfa import NFA, Match, TimedOut
from scurry.cep.patterns.automaton.stage_conditions import ConditionFailedError
from scurry.cep.patterns.automaton.state import NFAState

__all__ = [
    "NFA",
    "ConditionFailedError",
    "Match",
    "NFAState",
    "TimedOut",
    "can_produce_empty_matches",
    "compile_nfa",
]
