"""Files that tests read from Maven Central: fetched once, checked, and kept in scurry's cache directory."""

from __future__ import annotations

import hashlib
import os
import urllib.request
from pathlib import Path

import pytest

from scurry.common._process.directories import cache_directory
from scurry.testing.kafka import CENTRAL


def fetched(path: str, digest: str) -> Path:
    """Return the file at `path` of Maven Central, whose SHA-256 is `digest`; skip the test where it cannot be had."""
    file = cache_directory() / "maven" / Path(path).name
    if not file.exists():
        try:
            with urllib.request.urlopen(f"{CENTRAL}/{path}", timeout=60) as answer:
                content = answer.read()
        except OSError as error:
            pytest.skip(f"{path} cannot be fetched from Maven Central: {error}")
        assert hashlib.sha256(content).hexdigest() == digest, f"{path} is not the file that is expected"
        file.parent.mkdir(parents=True, exist_ok=True)
        partial = file.with_suffix(f".{os.getpid()}")
        partial.write_bytes(content)
        partial.rename(file)
    return file
