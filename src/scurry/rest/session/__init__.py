"""Sessions: one process, and with Spark one application, that takes jobs; each job's program runs in its own process.

`SessionCluster` starts, lists and ends jobs, and `directory.py` keeps on disk what starts them again. The endpoint of a
session (`app.py`) lists jobs, forwards requests to them, and takes uploaded programs.
"""
