"""Whether the state of a checkpoint can be loaded, as Spark's own reader finds."""

from __future__ import annotations

from typing import Any

from scurry.spark.failures import texts_of
from scurry.spark.state import NAME
from scurry.spark.storage import Storage

#: What Spark's error says when a task cannot load the state it should begin with.
CANNOT_LOAD = "CANNOT_LOAD_STATE_STORE"


def unreadable_state(spark: Any, checkpoint: str, storage: Storage, batch: int) -> str | None:
    """Why the state after a batch cannot be loaded; None if all of it can.

    Args:
        spark: The session.
        checkpoint: Spark's checkpoint.
        storage: The files in it.
        batch: A committed batch.
    """
    for operator in sorted(filter(str.isdigit, storage.list("state")), key=int):
        reader = spark.read.format("statestore").option("path", checkpoint).option("stateVarName", NAME)
        try:
            reader.option("operatorId", operator).option("batchId", batch).load().count()
        except Exception as error:
            texts = [text.split("\n")[0] for text in texts_of(error) if text and text != "None"]
            return f"operator {operator} of Spark's plan: {texts[-1] if texts else error!r}"
    return None
