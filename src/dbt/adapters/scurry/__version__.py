"""The version, which `dbt --version` shows."""

from __future__ import annotations

from scurry import __version__ as version

__all__ = ["version"]
