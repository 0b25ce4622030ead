"""Sessions: one process, and with Spark one application, that takes jobs; each job's program runs in its own process.

`Session` starts, lists and ends jobs, and `directory.py` keeps on disk what is needed to start them again.
"""
