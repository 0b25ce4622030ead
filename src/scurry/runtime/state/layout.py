"""How state is laid out in pages: the slots of a key's entry and the ids of pages."""

from __future__ import annotations

from typing import Any

#: Reserved entry slots of the two time domains.
EVENT = 0
PROCESSING = 1
DOMAINS = (EVENT, PROCESSING)

#: A page's id in the store is its key group << 32 | its number; the first page has number 1, its halves 2 and 3, ...
GROUP_SHIFT = 32
NUMBER = (1 << GROUP_SHIFT) - 1

Entry = dict[Any, Any]
Page = dict[Any, Entry]
