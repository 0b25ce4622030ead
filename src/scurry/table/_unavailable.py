"""Names of PyFlink's Table API that this version does not have."""

from __future__ import annotations

from scurry.errors import UnsupportedError

__all__ = ["UNAVAILABLE", "unavailable"]

#: names that programs import from `pyflink.table`
UNAVAILABLE = frozenset("UserDefinedType".split())


def unavailable(module: str, name: str) -> Exception:
    """Return the error for a name that a program imports.

    Args:
        module: The module, below `pyflink`.
        name: The name; special names are missing attributes, as the import system expects.
    """
    if name.startswith("_"):
        return AttributeError(f"module 'scurry.{module}' has no attribute {name!r}")
    return UnsupportedError(
        f"pyflink.{module}.{name}: the Table API, with its expressions, is not available in "
        "this version of scurry; write queries in SQL: t_env.sql_query('SELECT ...')"
    )
