"""Sources and sinks in pure Python, driven in micro-batches by any runner.

`source` and `sink` hold the two contracts; every other module implements one of them.
"""
