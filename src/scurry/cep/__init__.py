"""Complex event processing: patterns of events in streams (Flink's CEP library).

A `Pattern` says what to find, `CEP.pattern` applies it to a stream, `CEP.dynamic_patterns` those of another stream.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scurry.cep.patterns.conditions import (
    ConditionContext,
    IterativeCondition,
    RichIterativeCondition,
    SimpleCondition,
)
from scurry.cep.patterns.dynamic import PatternMatch
from scurry.cep.patterns.pattern import GroupPattern, Pattern
from scurry.cep.patterns.quantifier import Quantifier
from scurry.cep.patterns.skip_strategies import AfterMatchSkipStrategy, WithinType

if TYPE_CHECKING:
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


def __getattr__(name: str) -> Any:
    if name in __all__:  # streams stand above the runtime, which imports `scurry.cep.patterns`
        from scurry.cep import functions, pattern_stream

        return getattr(pattern_stream if name in pattern_stream.__all__ else functions, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
