"""What a savepoint tells about the states that were written into it."""

from __future__ import annotations

from typing import Any

from scurry.runtime.context import StateAccess

__all__ = ["registered_schemas"]


def registered_schemas(states: StateAccess) -> dict[str, Any]:
    """The schemas of the states that an operator's functions have registered, by name."""
    return {}
