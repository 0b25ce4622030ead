"""Access to fastavro, the optional library that reads and writes Avro."""

from __future__ import annotations

from typing import Any

from scurry.connectors.avro.codecs import add_codecs
from scurry.errors import ExtraMissingError


def fastavro() -> Any:
    """Return the module `fastavro`.

    Raises:
        ExtraMissingError: It is not installed.
    """
    try:
        import fastavro as module
    except ImportError as error:
        raise ExtraMissingError(f"Avro needs the package fastavro: pip install 'scurry[avro]' ({error})") from error
    add_codecs(module)
    return module
