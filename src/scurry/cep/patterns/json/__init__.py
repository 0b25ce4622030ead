"""Patterns as JSON, in the form of FLIP-200: a graph of stages, their contiguity as edges.

Conditions are expressions over the fields of events: `{"type": "SQL", "expression": "price > 10"}`. `writing` and
`reading` are each other's inverse.
"""

from __future__ import annotations

from scurry.cep.patterns.quantifier import ConsumingStrategy

#: type of an edge -> the method of `Pattern` that adds its target
LINKS = {
    ConsumingStrategy.STRICT: "next",
    ConsumingStrategy.SKIP_TILL_NEXT: "followed_by",
    ConsumingStrategy.SKIP_TILL_ANY: "followed_by_any",
    ConsumingStrategy.NOT_NEXT: "not_next",
    ConsumingStrategy.NOT_FOLLOW: "not_followed_by",
}

#: The version of the form.
VERSION = 1
