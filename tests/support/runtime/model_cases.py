"""How many cases a property is tested with: 700 in `make test-models`, fewer where `pytest` runs everything."""

from __future__ import annotations

import os

CASES = int(os.environ.get("SCURRY_CASES", "60"))
