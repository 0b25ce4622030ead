"""Dead letters: records on which a user's function fails, sent to a side output instead of failing the job.

Only operators that declare dead letters guard their hooks; all others call the user's functions directly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from scurry.common._copies import copy_of
from scurry.common.output_tag import DeadLetter, OutputTag
from scurry.runtime.exchange.collector import Collector, Timestamps
from scurry.runtime.failure import operator_error
from scurry.runtime.functions.context import TaskInfo

if TYPE_CHECKING:
    from scurry.graph.plan import OperatorPlan, SourcePlan


class DeadLetters:
    """Guard the hooks of one operator instance, which calls them once per record and in order.

    Args:
        tag: The side output that failing records go to.
        collector: The operator's outputs.
        info: Where it runs.
    """

    def __init__(self, plan: OperatorPlan | SourcePlan, tag: OutputTag, collector: Collector, info: TaskInfo) -> None:
        self._plan = plan
        self._tag = tag
        self._collector = collector
        self._info = info
        self._calls = 0
        #: position in the block -> its letter
        self._letters: dict[int, DeadLetter] = {}

    def guarded(self, hook: Callable[..., Any]) -> Callable[..., Any]:
        """Return a hook with several results, or None for none; it has none for a record on which it fails.

        A generator is run to its end, so that a record that fails halfway emits nothing.
        """

        def call(value: Any, *context: Any) -> Any:
            position = self._calls
            self._calls += 1
            try:
                some = hook(value, *context)
                return some if some is None else self._collector.handed_over(some)
            except Exception as error:
                self._letters[position] = self._letter(value, error)
                return None

        return call

    def guarded_test(self, hook: Callable[[Any], Any]) -> Callable[[Any], bool]:
        """Return a hook that accepts records; it does not accept a record on which it fails."""
        several = self.guarded(lambda value: (bool(hook(value)),))
        return lambda value: several(value) == [True]

    def _letter(self, value: Any, error: Exception) -> DeadLetter:
        failure = operator_error(self._plan, error, value).failure
        plan = self._plan
        return DeadLetter(copy_of(value), failure.error, failure.message, plan.name, plan.uid, failure.details)

    def send(self, timestamps: Timestamps) -> None:
        """Emit the letters of the block just processed, whose records had these timestamps."""
        self._calls = 0
        if not self._letters:
            return
        letters, self._letters = self._letters, {}
        self._info.dead_letters(self._plan.id, list(letters.values()))
        times = None if timestamps is None else [timestamps[position] for position in letters]
        self._collector.emit_side(self._tag, list(letters.values()), times)
