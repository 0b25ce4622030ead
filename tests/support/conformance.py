"""Where the answers recorded from real Flink are: what SCURRY_CONFORMANCE names, or beside the checkout."""

from __future__ import annotations

import os
from pathlib import Path

CONFORMANCE = Path(
    os.environ.get("SCURRY_CONFORMANCE") or Path(__file__).parents[3] / "shared" / "conformance"
).resolve()
