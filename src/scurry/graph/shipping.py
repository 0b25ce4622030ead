"""A plan on its way to the workers."""

from __future__ import annotations

import pickle

from scurry.errors import ScurryError
from scurry.graph.plan import JobPlan


class UnpicklableFunctionError(ScurryError, pickle.PicklingError):
    """A function of the program cannot be sent to workers."""


def ship(plan: JobPlan) -> bytes:
    """The plan as workers load it with pickle.

    Raises:
        UnpicklableFunctionError: Names the operator whose function holds something that cannot be pickled.
    """
    import cloudpickle

    try:
        return bytes(cloudpickle.dumps(plan, 5))
    except Exception as error:
        for part in (*plan.operators.values(), *plan.sources.values()):
            try:
                cloudpickle.dumps(part, 5)
            except Exception as cause:
                raise UnpicklableFunctionError(
                    f"operator {part.name!r} built at {part.origin} cannot be sent to workers: {cause}\n"
                    "  hint: create connections, locks, open files and the like in open(), not in __init__ or at "
                    "module level"
                ) from error
        raise
