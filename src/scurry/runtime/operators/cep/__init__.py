"""The operators of patterns: they sort events by time and feed them to the automaton of each key.

| module | what is in it |
|---|---|
| `waiting` | events that the watermark has not reached |
| `run` | the automaton of a pattern on the keys that a micro-batch touches |
| `operator` | `CepOperator`: a pattern, or several, in event time or processing time |
| `dynamic` | `DynamicCepOperator`: patterns come and go with a second input |
| `results` | what functions see and emit |
"""

from __future__ import annotations

from scurry.runtime.operators.cep.dynamic import DynamicCepOperator
from scurry.runtime.operators.cep.operator import CepOperator

__all__ = ["CepOperator", "DynamicCepOperator"]
