"""The relational plan: its nodes, their typed expressions, and how both are rewritten."""

from __future__ import annotations
