"""Complex event processing: patterns of events in streams (Flink's CEP library).

A `Pattern` says what to find, `CEP.pattern` applies it to a stream, `CEP.dynamic_patterns` those of another stream.
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
from scurry.cep.pattern_stream import CEP, DynamicPatternStream, PatternStream
from scurry.patterns.conditions import ConditionContext, IterativeCondition, RichIterativeCondition, SimpleCondition
from scurry.patterns.dynamic import PatternMatch
from scurry.patterns.pattern import GroupPattern, Pattern
from scurry.patterns.quantifier import Quantifier
from scurry.patterns.skip_strategies import AfterMatchSkipStrategy, WithinType

__all__ = [
    "CEP",
    "AfterMatchSkipStrategy",
    "ConditionContext",
    "DynamicPatternStream",
    "EventComparator",
    "GroupPattern",
    "IterativeCondition",
    "Pattern",
    "PatternFlatSelectFunction",
    "PatternFlatTimeoutFunction",
    "PatternMatch",
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
