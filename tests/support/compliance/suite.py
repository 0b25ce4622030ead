"""The tests of SQLAlchemy's suite."""

from __future__ import annotations

from sqlalchemy.testing.suite import *  # noqa: F403
