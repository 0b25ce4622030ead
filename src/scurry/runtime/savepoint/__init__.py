"""Savepoints: the state of a job as files that other jobs, machines and versions can start from."""
