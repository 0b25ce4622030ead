"""The relational plan: nodes, typed expressions, and the rules that rewrite them."""

from __future__ import annotations
