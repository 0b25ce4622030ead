"""Put content behind a digest, by which damage is found."""

from __future__ import annotations

import hashlib

from scurry.runtime.checkpoint.storage import DamagedFileError

_DIGEST_BYTES = 16


def sealed(content: bytes) -> bytes:
    """Return content behind its digest."""
    return _digest(content) + content


def unsealed(sealed_content: bytes, name: str) -> bytes:
    """Return content without its digest.

    Raises:
        DamagedFileError: It is not what was written.
    """
    digest, content = sealed_content[:_DIGEST_BYTES], sealed_content[_DIGEST_BYTES:]
    if digest != _digest(content):
        raise DamagedFileError(f"{name} is not what was written")
    return content


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).digest()
