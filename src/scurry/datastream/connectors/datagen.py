"""The path of DataGeneratorSource; Flink has it in Java only."""

from __future__ import annotations

from scurry.connectors.datagen import DataGeneratorSource

__all__ = ["DataGeneratorSource"]
