"""What holds for all tests."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# A busy machine is no bug: how long an example takes decides nothing.
settings.register_profile("scurry", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("scurry")
