"""Sources and sinks in pure Python, for all runners.

`source` and `sink` define the two contracts; the other modules implement them.
"""
