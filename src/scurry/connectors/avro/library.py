"""Access to fastavro, the optional library that reads and writes Avro."""

from __future__ import annotations

from typing import Any

from scurry.common._optional import optional_module
from scurry.connectors.avro.codecs import add_codecs


def fastavro() -> Any:
    """Return the module `fastavro`.

    Raises:
        ExtraMissingError: It is not installed.
    """
    module = optional_module("Avro", "fastavro", "avro", "fastavro")
    add_codecs(module)
    return module
