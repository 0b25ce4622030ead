"""RestoreFilter: leaves out expired state when state is restored."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scurry.runtime.state.expiry import Lifetimes, due, lifetimes_in
from scurry.runtime.state.layout import has_rows, is_run


@dataclass(frozen=True)
class RestoreFilter:
    """Leave out expired state when state is restored; sent to the workers that read it.

    Attributes:
        operators: The lifetimes of the operators' states, by uid.
        now: The time of the restore, in milliseconds.
    """

    operators: Mapping[str, Lifetimes]
    now: int

    @classmethod
    def of(cls, schemas: Mapping[str, Mapping[str, Any]], now: int) -> RestoreFilter:
        """Return the filter for operators whose states have these schemas, in JSON by uid and name."""
        found = {}
        for uid, states in schemas.items():
            cleaned = {name: schema for name, schema in states.items() if schema.get("cleanup") != "never"}
            found[uid] = lifetimes_in(cleaned)
        return cls({uid: lifetimes for uid, lifetimes in found.items() if lifetimes}, now)

    def page(self, uid: str, blob: bytes) -> bytes:
        """Return a page of an operator, or the index in its place, as it is restored."""
        lifetimes = self.operators.get(uid)
        if lifetimes is None or has_rows(blob):
            return blob
        if is_run(blob):
            from scurry.runtime.state.run_groups import without_expired
            from scurry.runtime.state.runs import Run

            run = Run(blob)
            return without_expired(run, lifetimes, self.now, run.digest)[0]
        content = pickle.loads(blob)
        if type(content) is not dict:
            return blob
        due(content, lifetimes, self.now)
        return pickle.dumps({key: entry for key, entry in content.items() if entry}, 5)
