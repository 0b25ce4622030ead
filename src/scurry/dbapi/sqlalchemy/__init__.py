"""The dialect `scurry` of SQLAlchemy: `create_engine("scurry://")`, `create_engine("scurry://:TOKEN@HOST:PORT")`.

The extra `sqlalchemy` installs SQLAlchemy, which finds the dialect by its entry point.
"""

from __future__ import annotations

from scurry.common._optional import optional_module

optional_module("scurry.dbapi.sqlalchemy", "sqlalchemy", "sqlalchemy", "sqlalchemy")

from scurry.dbapi.sqlalchemy.dialect import ScurryDialect  # noqa: E402
from scurry.dbapi.sqlalchemy.types import NestedType  # noqa: E402

__all__ = ["NestedType", "ScurryDialect"]
