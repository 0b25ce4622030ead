"""dbt's adapter for scurry: profiles of `type: scurry`."""

from __future__ import annotations

from pathlib import Path

from dbt.adapters.base import AdapterPlugin

from dbt.adapters.scurry.adapter import ScurryAdapter
from dbt.adapters.scurry.credentials import ScurryCredentials

__all__ = ["Plugin"]

Plugin = AdapterPlugin(
    adapter=ScurryAdapter,
    credentials=ScurryCredentials,
    include_path=str(Path(__file__).parents[2] / "include" / "scurry"),
)
