"""Check Spark master URLs."""

from __future__ import annotations

import re

from scurry.errors import ConfigError

_FORMS = re.compile(
    r"local(\[(\*|[1-9]\d*)(\s*,\s*\d+)?\])?|local-cluster\[\s*\d+\s*,\s*\d+\s*,\s*\d+\s*\]"
    r"|spark://[^\s/,:]+:\d+(,[^\s/,:]+:\d+)*|spark://\[[0-9a-fA-F:]+\]:\d+|yarn|k8s://\S+"
)


def check_master(url: str) -> None:
    """Check that a text is the URL of a Spark master.

    Raises:
        ConfigError: It is not; the message lists the valid forms.
    """
    if not _FORMS.fullmatch(url.strip()):
        raise ConfigError(
            f"spark.master = {url!r} is no Spark master: use local[N] or local[*] for this machine, spark://HOST:PORT, "
            "yarn, or k8s://https://HOST:PORT"
        )
