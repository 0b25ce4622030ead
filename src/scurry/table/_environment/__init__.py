"""The implementation of `TableEnvironment`: its methods by subject.

base         the session, and names as SQL reads them
catalogs     catalogs, databases, and what they contain
functions    user-defined functions, and what Python's functions need on workers
modules      modules, models and compiled plans
"""
