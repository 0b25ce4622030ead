"""Micro-batches of single subtasks, captured where they run and run again in another process.

A capture has all that a subtask takes over from elsewhere: its blocks as they came over the wire, what it read of its
state, what its clocks showed, what its task kept in memory, and the state of random numbers. So the same operators emit
the same again, or fail on the same record, on any machine, without the job's sources, cluster and state.
"""
