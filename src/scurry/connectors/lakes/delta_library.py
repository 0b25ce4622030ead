"""Access to deltalake, the optional library that reads and writes Delta Lake's log."""

from __future__ import annotations

from typing import Any

from scurry.errors import ExtraMissingError


def deltalake() -> Any:
    """Return the module `deltalake` (delta-rs).

    Raises:
        ExtraMissingError: It is not installed.
    """
    try:
        import deltalake as module
        import deltalake.exceptions
        import deltalake.transaction
    except ImportError as error:
        raise ExtraMissingError(
            f"Delta Lake needs the package deltalake: pip install 'scurry[delta]' ({error})"
        ) from error
    return module
