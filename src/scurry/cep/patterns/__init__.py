"""Patterns of events, and the automaton that finds them; pure Python, without input or output.

Users import what is here from `scurry.cep`.

| module | what is in it |
|---|---|
| `pattern` | `Pattern`, the builder |
| `quantifier` | how often a stage matches, and which events may lie between |
| `conditions` | conditions of stages, and boolean expressions of them |
| `skip_strategies` | which matches are left out after a match |
| `automaton` | the compiler of patterns, and `NFA`, which runs what it makes |
"""
