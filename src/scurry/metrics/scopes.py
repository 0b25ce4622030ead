"""Scopes of metrics: the names of groups in metric ids and reporters."""

from __future__ import annotations

__all__ = ["identifier", "in_group", "logical", "path"]

# Between the names of a path, and between the key and the value of a group that has both. Users' names have neither.
_GROUP, _VALUE = "\x1e", "\x1f"


def in_group(scope: str, name: str, value: str | None = None) -> str:
    """Return the full name of a metric or group in a scope, the empty one included.

    Args:
        scope: The full name of the group that it is in.
        name: Its own name.
        value: The value of a group that is the key of one, None if it is not.
    """
    own = name if value is None else f"{name}{_VALUE}{value}"
    return f"{scope}{_GROUP}{own}" if scope else own


def path(name: str) -> list[str]:
    """Return the parts of a full name, keys and values of groups among them."""
    return name.replace(_VALUE, _GROUP).split(_GROUP)


def identifier(name: str) -> str:
    """Return a full name as ids have it: `my.key.value.seen`."""
    return ".".join(path(name))


def logical(name: str) -> tuple[str, dict[str, str]]:
    """Return a full name without the values of its groups, and these by their keys: `my.key.seen`, key = value."""
    pairs = [part.partition(_VALUE) for part in name.split(_GROUP)]
    return ".".join(key for key, _, _ in pairs), {key: value for key, between, value in pairs if between}
