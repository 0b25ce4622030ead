"""ViewPlans: the plans of the views that a session has validated, for views on views and later statements."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scurry.sql.functions.definition import EvaluationContext
    from scurry.sql.plan.nodes import Plan

#: Plans of views that a session keeps; the least recently used one is forgotten.
MAX_PLANS = 1000


class ViewPlans:
    """Keep the plan of a view as long as each name in it means the same table, view or function object."""

    def __init__(self) -> None:
        """Keep nothing yet."""
        #: (view, session) -> what each look-up of its validation has found, and the plan
        self._plans: OrderedDict[Hashable, tuple[dict[Hashable, Any], Plan]] = OrderedDict()
        #: the look-ups of the views that are being validated, the innermost last
        self._validating: list[dict[Hashable, Any]] = []

    def found(self, look_up: Hashable, value: Any) -> None:
        """Note that the views that are being validated depend on a look-up.

        Args:
            value: The object that it found; None for nothing.
        """
        if self._validating:
            self._validating[-1][look_up] = value

    def plan(
        self, view: Hashable, session: EvaluationContext, find: Callable[[Any], Any], make: Callable[[], Plan]
    ) -> Plan:
        """Return the plan of a view; make it unless that of an earlier statement still holds.

        Args:
            view: The look-up of the view.
            session: The session, whose time of the query does not matter to a plan.
            find: Returns what a look-up finds now.
        """
        key = view, replace(session, query_start=None)
        known = self._plans.get(key)
        if known is None or not all(find(look_up) is value for look_up, value in known[0].items()):
            self._validating.append({view: find(view)})
            try:
                plan = make()
            finally:
                uses = self._validating.pop()
            known = self._plans[key] = uses, plan
            if len(self._plans) > MAX_PLANS:
                self._plans.popitem(last=False)
        self._plans.move_to_end(key)
        if self._validating:  # the view around it depends on the same
            self._validating[-1] |= known[0]
        return known[1]
