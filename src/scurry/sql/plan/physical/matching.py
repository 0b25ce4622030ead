"""The physical node of MATCH_RECOGNIZE."""

from __future__ import annotations

from dataclasses import dataclass

from scurry.sql.plan.matching import Match


@dataclass(frozen=True)
class PatternMatch(Match):
    """A pattern that can be translated to an automaton."""
