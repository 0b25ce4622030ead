"""Reading and writing the state in savepoints (Flink's State Processor API).

`SavepointReader` shows the state of a job at rest, as Python values or as Spark DataFrames; `SavepointWriter` makes
savepoints that jobs start from, out of records, DataFrames and parts of other savepoints. `docs/state-processor.md`
shows how.
"""

from __future__ import annotations

from scurry.runtime.savepoint.format import OperatorState, SavepointMetadata, SourceState
from scurry.runtime.state.timer import Timer
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
