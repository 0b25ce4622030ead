"""Complex event processing: patterns of events in streams (Flink's CEP library).

A `Pattern` says what to find, `CEP.pattern` applies it to a stream.
"""

from __future__ import annotations

from scurry.cep.functions import (
    EventComparator,
    PatternFlatSelectFunction,
    PatternFlatTimeoutFunction,
    PatternProcessFunction,
    PatternSelectFunction,
    PatternTimeoutFunction,
    TimedOutPartialMatchHandler,
)
from scurry.cep.pattern_stream import CEP, PatternStream
from scurry.patterns.conditions import ConditionContext, IterativeCondition, RichIterativeCondition, SimpleCondition
from scurry.patterns.pattern import GroupPattern, Pattern, WithinType
from scurry.patterns.quantifier import Quantifier
from scurry.patterns.skip_strategies import AfterMatchSkipStrategy

__all__ = [
    "CEP",
    "AfterMatchSkipStrategy",
    "ConditionContext",
    "EventComparator",
    "GroupPattern",
    "IterativeCondition",
    "Pattern",
    "PatternFlatSelectFunction",
    "PatternFlatTimeoutFunction",
    "PatternProcessFunction",
    "PatternSelectFunction",
    "PatternStream",
    "PatternTimeoutFunction",
    "Quantifier",
    "RichIterativeCondition",
    "SimpleCondition",
    "TimedOutPartialMatchHandler",
    "WithinType",
]
