"""The implementation of `TableEnvironment`: its methods by subject.

base         the session, and names as SQL reads them
catalogs     catalogs, databases, and what they contain
functions    user-defined functions, and what Python's functions need on workers
models       models
modules      modules and compiled plans
"""
