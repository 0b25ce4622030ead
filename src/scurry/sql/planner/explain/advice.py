"""The advice of EXPLAIN PLAN_ADVICE about a plan."""

from __future__ import annotations

#: advice on an operator, by its name
_ADVICE = {
    "GroupAggregate": (
        "You might want to enable local-global two-phase optimization by configuring "
        "('table.exec.mini-batch.enabled' to 'true', 'table.exec.mini-batch.allow-latency' to a positive long value, "
        "'table.exec.mini-batch.size' to a positive long value)."
    )
}


class Advice:
    """The advice about the operators of a plan, numbered from 1; the same advice has one number."""

    def __init__(self) -> None:
        """Begin without advice."""
        self._given: list[str] = []

    def added(self, name: str, text: str) -> str:
        """Return the text of an operator with the number of the advice about it.

        Args:
            text: Its text.
        """
        found = _ADVICE.get(name)
        if found is None:
            return text
        if found not in self._given:
            self._given.append(found)
        start, _, rest = text.partition("(")
        return f"{start}(advice=[{self._given.index(found) + 1}], {rest}"

    def text(self) -> str:
        """Return all advice, one a line."""
        if not self._given:
            return "No available advice..."
        return "\n".join(f"advice[{place}]: [ADVICE] {each}" for place, each in enumerate(self._given, 1))
