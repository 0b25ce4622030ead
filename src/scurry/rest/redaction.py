"""Configuration values that must not be shown."""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["HIDDEN", "redacted"]

HIDDEN = "******"

# Flink's own list (GlobalConfiguration.SENSITIVE_KEYS), and how Spark, Hadoop and cloud clients name theirs.
_SENSITIVE = re.compile(
    r"password|passwd|passphrase|secret|token|credential|api[-_.]?key|service-key|auth-params|basic-auth|jaas\.config"
    r"|http-headers|account\.key|access[-_.]?key|private[-_.]?key|sas\.|signature",
    re.IGNORECASE,
)
_PASSWORD_IN_URL = re.compile(r"(\w://[^\s/@:]*):[^\s/@]+@")
_PASSWORD_PARAMETER = re.compile(r"((?:password|passwd|pwd|secret|token|accesskey)\s*[=:]\s*)[^\s&;,]+", re.IGNORECASE)


def redacted(configuration: Mapping[str, str]) -> dict[str, str]:
    """Return a configuration without its secrets: whole values of keys that say so, and passwords inside of others."""
    return {
        key: HIDDEN if _SENSITIVE.search(key) else _without_passwords(value) for key, value in configuration.items()
    }


def _without_passwords(value: str) -> str:
    value = _PASSWORD_IN_URL.sub(rf"\1:{HIDDEN}@", value)
    return _PASSWORD_PARAMETER.sub(rf"\1{HIDDEN}", value)
