"""The SQL gateway: sessions of statements for many clients at once, and Flink's REST endpoint for them.

`sessions` and `operations` execute statements and know nothing of HTTP: the SQL client uses them in its own process.
`app` and `routes` serve them; only these import FastAPI. `layout` is what results look like in JSON.
"""
