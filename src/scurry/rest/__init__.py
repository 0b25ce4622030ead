"""Operate running jobs from outside: the HTTP endpoint of a job, the registry of running jobs, and the client.

`endpoint.py` runs in the process of a job, `client.py` in the process that operates it; `registry.py` connects them.
The answers are in `app.py` and `routes/`, the only modules that import FastAPI, and only at the first request.
"""
