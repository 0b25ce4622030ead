"""Prepared: values that a process makes once of the attributes of an object, and that are not pickled."""

from __future__ import annotations

from typing import Any


class Prepared:
    """A base of classes with cached properties whose names begin with `_`: each process makes their values anew."""

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes without those values."""
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}
