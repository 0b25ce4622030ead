"""Real servers that tests start for themselves: one module for each, with what starts, kills and revives it."""

from __future__ import annotations
