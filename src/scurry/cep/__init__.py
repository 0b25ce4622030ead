"""Complex event processing: patterns of events in streams."""

from __future__ import annotations

from scurry.patterns.conditions import ConditionContext, IterativeCondition, RichIterativeCondition, SimpleCondition
from scurry.patterns.pattern import GroupPattern, Pattern, WithinType
from scurry.patterns.quantifier import Quantifier
from scurry.patterns.skip_strategies import AfterMatchSkipStrategy

__all__ = [
    "AfterMatchSkipStrategy",
    "ConditionContext",
    "GroupPattern",
    "IterativeCondition",
    "Pattern",
    "Quantifier",
    "RichIterativeCondition",
    "SimpleCondition",
    "WithinType",
]
