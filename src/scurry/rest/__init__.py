"""Running jobs operated from outside: the HTTP endpoint of a job, the registry of running jobs, and the client.

`endpoint.py` belongs to the process of a job, `client.py` to whoever operates it; they meet in `registry.py`. What the
endpoint answers is in `app.py` and `routes/`, which alone import FastAPI, and only when the first request comes.
"""
