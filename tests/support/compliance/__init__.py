"""SQLAlchemy's own suite for dialects, as far as it applies here; `test_sqlalchemy_suite.py` runs it."""
