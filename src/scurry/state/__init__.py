"""Reading and writing the state in savepoints (Flink's State Processor API).

`SavepointReader` reads the state in a savepoint as Python values or Spark DataFrames. `SavepointWriter` creates
savepoints to start jobs from, out of records, DataFrames and parts of other savepoints. See `docs/state-processor.md`.
"""

from __future__ import annotations

from scurry.runtime.savepoint.format import OperatorState, SavepointMetadata, SourceState
from scurry.runtime.state.layout import Timer
from scurry.state.entries import WindowState
from scurry.state.functions import (
    BroadcastStateBootstrapFunction,
    KeyedStateBootstrapFunction,
    KeyedStateReaderFunction,
)
from scurry.state.reader import SavepointReader
from scurry.state.transformation import (
    KeyedStateTransformation,
    OneInputStateTransformation,
    OperatorTransformation,
    StateBootstrapTransformation,
    WindowedStateTransformation,
)
from scurry.state.writer import SavepointWriter

__all__ = [
    "BroadcastStateBootstrapFunction",
    "KeyedStateBootstrapFunction",
    "KeyedStateReaderFunction",
    "KeyedStateTransformation",
    "OneInputStateTransformation",
    "OperatorState",
    "OperatorTransformation",
    "SavepointMetadata",
    "SavepointReader",
    "SavepointWriter",
    "SourceState",
    "StateBootstrapTransformation",
    "Timer",
    "WindowState",
    "WindowedStateTransformation",
]
