"""Plans as trees in which equal parts, which a job computes once, are shown once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from scurry.sql.planner.explain.trees import Operator, tree_text

#: An operator with all below it: operators that have the same are one.
_Key = tuple[object, ...]


def shared_texts(roots: Sequence[Operator], is_batch: bool = False) -> list[str]:
    """Return trees as texts: a part that several operators read has a number, and is `Reused` after the first time.

    Args:
        roots: The operators of the sinks of a job.
        is_batch: Whether the job is one of BATCH, where exchanges are not shared.
    """
    return _Shared(roots, is_batch).texts()


class _Shared:
    def __init__(self, roots: Sequence[Operator], is_batch: bool) -> None:
        self._roots = roots
        self._is_batch = is_batch
        self._places: dict[_Key, int] = {}
        self._readers: Counter[int] = Counter()
        self._known: dict[int, int] = {}
        self._numbers: dict[int, int] = {}
        #: number of an operator -> the sinks, by number, that its rows come to
        self._sinks: dict[int, set[int]] = {}
        self._operators: dict[int, Operator] = {}
        self._sink = 0
        for number, root in enumerate(roots, 1):
            # Equal sinks write their rows each.
            self._known[id(root)] = -number
            self._sink = number
            for each in root.inputs:
                self._place(each)
            self._readers.update(self._known[id(self._sent(each))] for each in root.inputs)

    def texts(self) -> list[str]:
        """Return the parts that several sinks have in common, then the sinks."""
        common = [
            operator
            for place, operator in self._operators.items()
            if len(self._sinks[place]) > 1 and self._is_shared(place, operator)
        ]
        return [tree_text(each, self._described) for each in (*common, *self._roots)]

    def _is_shared(self, place: int, operator: Operator) -> bool:
        return self._readers[place] > 1 and not (operator.name == "Exchange" and self._is_batch)

    def _place(self, operator: Operator) -> int:
        """Return the same number for equal operators, and count their consumers."""
        below = [self._place(each) for each in operator.inputs]
        key = (operator.text, operator.plan, *below)
        found = self._places.get(key)
        if found is None:
            found = self._places[key] = len(self._places)
            if not self._is_batch or operator.name != "Exchange":
                self._readers.update(self._known[id(self._sent(each))] for each in operator.inputs)
            self._operators[found] = operator
        self._known[id(operator)] = found
        self._sinks.setdefault(found, set()).add(self._sink)
        return found

    def _described(self, operator: Operator) -> tuple[str, Sequence[Operator]]:
        place = self._known[id(operator)]
        if self._is_batch and operator.name == "Exchange" and self._known[id(operator.inputs[0])] in self._numbers:
            return f"{operator.text.removesuffix(')')}, shuffle_mode=[BATCH])", operator.inputs
        if not self._is_shared(place, operator):
            return operator.text, operator.inputs
        if place in self._numbers:
            return f"Reused(reference_id=[{self._numbers[place]}])", ()
        self._numbers[place] = len(self._numbers) + 1
        return f"{operator.text}(reuse_id=[{self._numbers[place]}])", operator.inputs

    def _sent(self, operator: Operator) -> Operator:
        """Return whose rows are read: in BATCH those of one operator are sent to each of its readers."""
        return self._sent(operator.inputs[0]) if self._is_batch and operator.name == "Exchange" else operator
