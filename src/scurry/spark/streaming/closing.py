"""Operators with functions that want to be closed."""

from __future__ import annotations

import io
from typing import Any

from scurry.common.recursion import deep_recursion
from scurry.graph.operators import AsyncWait, Operator
from scurry.sql.connectors.contract import LookupSource
from scurry.sql.functions.user.definition import UserFunction

#: Objects of scurry that hold connections or event loops while they are open.
_HOLD_RESOURCES = (AsyncWait, LookupSource, UserFunction)
_OWN = __name__.partition(".")[0]


@deep_recursion()
def has_close(operator: Operator) -> bool:
    """Return whether anything in an operator must be closed: a connection, an event loop, a user's `close()`.

    The operator is searched as it is pickled, so that no wrapper hides a function.
    """
    import cloudpickle

    found = False

    class Search(cloudpickle.CloudPickler):  # type: ignore[misc]
        def persistent_id(self, value: Any) -> Any:
            nonlocal found
            found = found or isinstance(value, _HOLD_RESOURCES) or _overrides_close(type(value))
            return True if found else None

    Search(io.BytesIO(), 5).dump(operator)
    return found


def _overrides_close(cls: type) -> bool:
    return any("close" in vars(base) and base.__module__.partition(".")[0] != _OWN for base in cls.__mro__)
