"""Give sinks the output of a micro-batch that they have not committed, after the program may have changed."""

from __future__ import annotations

from collections.abc import Mapping

from scurry.common.config_options import IGNORE_UNCLAIMED
from scurry.errors import StateNotRestoredError
from scurry.graph.plan import JobPlan
from scurry.runtime.driver.job import PackedCommittables


def output_of_sinks(
    plan: JobPlan, output: Mapping[str, PackedCommittables], root: object
) -> dict[int, PackedCommittables]:
    """Return output by the numbers that sinks have in a plan.

    Args:
        output: The same by their uids.
        root: The checkpoint directory, for messages.

    Raises:
        StateNotRestoredError: The program no longer has a sink that has to commit, and must not drop its output.
    """
    numbers = {op.uid: number for number, op in plan.operators.items()}
    gone = sorted(output.keys() - numbers.keys())
    if gone and not IGNORE_UNCLAIMED.parse(plan.settings.configuration.get(IGNORE_UNCLAIMED.key, "false")):
        raise StateNotRestoredError(
            f"the checkpoint in {root} has output that the sinks {', '.join(map(repr, gone))} have not committed, and "
            "the program has no such sinks. Start the earlier program once more, which commits it; "
            "--allow-non-restored-state (execution.state-recovery.ignore-unclaimed-state) drops it"
        )
    return {numbers[uid]: output[uid] for uid in output.keys() & numbers.keys()}
