"""Keys of ORDER BY, and functions over windows: OVER, the windows of WINDOW, and their frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scurry.errors import ValidationError
from scurry.sql.evaluation.constants import constant, is_written_constant
from scurry.sql.plan import builders
from scurry.sql.plan.expressions import Expression, InputReference, Literal
from scurry.sql.plan.nodes import Plan
from scurry.sql.plan.rewriting import rewritten
from scurry.sql.plan.windows import Frame, FrameBound, OrderKey, WindowCall
from scurry.sql.syntax import nodes
from scurry.sql.syntax.span import Span
from scurry.sql.types import CharType, IntegralType, NumericType, VarCharType
from scurry.sql.validator.aggregates import is_distinct_free, is_ranking, needs_order
from scurry.sql.validator.expressions import ExpressionValidator
from scurry.sql.validator.failures import invalid


def order_key(item: nodes.OrderItem, expression: Expression) -> OrderKey:
    """Return the sort key of an item of ORDER BY; NULL is the least value unless something else is said."""
    nulls_first = item.nulls == "FIRST" if item.nulls else not item.descending
    return OrderKey(expression, item.descending, nulls_first)


def ordinal(expression: nodes.Expression, width: int) -> int | None:
    """Return the place of the column that a number in ORDER BY means, None if it is no number.

    Raises:
        ValidationError: There is no column of that number.
    """
    if not isinstance(expression, nodes.NumericLiteral) or not expression.is_integer:
        return None
    place = int(expression.text)
    if not 1 <= place <= width:
        raise invalid(expression.span, "Ordinal out of range")
    return place - 1


_UNBOUNDED = FrameBound("UNBOUNDED PRECEDING")
_CURRENT = FrameBound("CURRENT ROW")
_END = FrameBound("UNBOUNDED FOLLOWING")
_PLACES = {"UNBOUNDED PRECEDING": 0, "PRECEDING": 1, "CURRENT ROW": 2, "FOLLOWING": 3, "UNBOUNDED FOLLOWING": 4}


class OverCalls:
    """Collects the functions over windows of a SELECT.

    Attributes:
        validator: Validates expressions that may contain such functions.
    """

    def __init__(self, windows: Sequence[nodes.WindowDefinition], inner: ExpressionValidator) -> None:
        self._inner = inner
        self._windows: dict[str, nodes.WindowSpecification] = {}
        for window in windows:
            if window.name.last in self._windows:
                raise invalid(window.name.span, "Duplicate window names not allowed")
            self._windows[window.name.last] = window.window
        self._calls: list[WindowCall] = []
        self.validator = ExpressionValidator(inner.scope, inner.environment, (self._intercept, *inner.interceptors))

    @property
    def is_used(self) -> bool:
        return bool(self._calls)

    def plan(self, plan: Plan) -> Plan:
        """Return a plan with a column for each function appended."""
        if not self._calls:
            return plan
        return builders.over(plan, self._calls, [f"w{i}$o0" for i in range(len(self._calls))])

    def bound(self, expression: Expression, width: int) -> Expression:
        """Return an expression that refers to the columns `plan` has appended to those of a row of some width."""

        def replaced(node: Expression) -> Expression:
            if isinstance(node, InputReference) and node.index < 0:
                return replace(node, index=width - 1 - node.index)
            return node

        return rewritten(expression, replaced) if self._calls else expression

    def _intercept(self, node: nodes.Expression, validator: ExpressionValidator) -> Expression | None:
        if not isinstance(node, nodes.FunctionCall) or node.over is None:
            return None
        if node.filter is not None:
            span = node.call_span
            filtered = Span(span.text, span.start, span.text.find(")", node.filter.span.end) + 1)
            raise invalid(filtered, "OVER must be applied to aggregate function")
        window = self._window(node.over)
        partition_by = tuple(self._inner.convert(each) for each in window.partition_by)
        order_by = tuple(order_key(each, self._inner.convert(each.expression)) for each in window.order_by)
        if is_ranking(node) and window.frame is not None:
            raise invalid(window.frame.span, "ROW/RANGE not allowed with RANK, DENSE_RANK or ROW_NUMBER functions")
        if needs_order(node) and not order_by:
            raise invalid(
                node.over.span, "RANK or DENSE_RANK functions require ORDER BY clause in window specification"
            )
        if is_ranking(node) and all(is_written_constant(each.expression) for each in order_by):
            self._refuse_unordered_rank()
        if isinstance(node, nodes.Call) and node.quantifier == "DISTINCT":
            node = self._without_distinct(node)
        frame = self._frame(window, order_by)
        # To Calcite only frames without a distance are sure to have a row.
        has_row = frame.lower.distance is None and frame.upper.distance is None
        call = self._inner.aggregate(nodes.replace(node, over=None), grouped=has_row, over=True)
        found = WindowCall(call, partition_by, order_by, frame, call.type)
        if found not in self._calls:
            self._calls.append(found)
        return InputReference(-1 - self._calls.index(found), found.type)

    def _refuse_unordered_rank(self) -> None:
        if not self._inner.environment.session.is_streaming:  # STREAMING has a rule that refuses it
            raise ValidationError(
                "Over Agg: The window rank function requires order by clause with non-constant fields. please re-check "
                "the over window statement."
            )

    def _without_distinct(self, node: nodes.Call) -> nodes.Call:
        """Leave out a DISTINCT that changes nothing; BATCH refuses any other."""
        if is_distinct_free(node):
            return nodes.replace(node, quantifier=None)
        if not self._inner.environment.session.is_streaming:
            raise ValidationError("Distinct not supported in Windowing function!")
        return node

    def _window(self, over: nodes.Identifier | nodes.WindowSpecification) -> nodes.WindowSpecification:
        if isinstance(over, nodes.Identifier):
            return self._named(over)
        if over.base is None:
            return over
        base = self._named(over.base)
        if over.partition_by:
            raise invalid(over.partition_by[0].span, "PARTITION BY not allowed with existing window reference")
        if over.order_by and base.order_by:
            raise invalid(over.order_by[0].span, "ORDER BY not allowed in both base and referenced windows")
        if base.frame is not None:
            raise invalid(over.base.span, "Referenced window cannot have framing declarations")
        return nodes.replace(
            over,
            base=None,
            partition_by=base.partition_by,
            order_by=over.order_by or base.order_by,
            # A frame beside the name of a window has no effect in Flink.
            frame=None,
        )

    def _named(self, name: nodes.Identifier) -> nodes.WindowSpecification:
        window = self._windows.get(name.last)
        if window is None:
            raise invalid(name.span, f"Window '{name.last}' not found")
        return self._window(window)

    def _frame(self, window: nodes.WindowSpecification, order_by: Sequence[OrderKey]) -> Frame:
        written = window.frame
        if written is None:
            return Frame("RANGE", _UNBOUNDED, _CURRENT if order_by else _END)
        lower = self._bound(written.lower, written.units, order_by)
        upper = _CURRENT if written.upper is None else self._bound(written.upper, written.units, order_by)
        if lower.kind == "UNBOUNDED FOLLOWING":
            raise invalid(written.lower.span, "UNBOUNDED FOLLOWING cannot be specified for the lower frame boundary")
        if upper.kind == "UNBOUNDED PRECEDING":
            assert written.upper is not None
            raise invalid(written.upper.span, "UNBOUNDED PRECEDING cannot be specified for the upper frame boundary")
        order = [_PLACES[each.kind] for each in (lower, upper)]
        if order[0] > order[1]:
            assert written.upper is not None
            kinds = [each.kind for each in (upper, lower)]
            raise invalid(
                written.upper.span, f"Upper frame boundary cannot be {kinds[0]} when lower boundary is {kinds[1]}"
            )
        return Frame(written.units, lower, upper)

    def _bound(self, bound: nodes.FrameBound, units: str, order_by: Sequence[OrderKey]) -> FrameBound:
        if isinstance(bound, nodes.CurrentRow):
            return _CURRENT
        if isinstance(bound, nodes.UnboundedPreceding):
            return _UNBOUNDED
        if isinstance(bound, nodes.UnboundedFollowing):
            return _END
        assert isinstance(bound, nodes.Preceding | nodes.Following)
        distance = self._inner.convert(bound.distance)
        distance = constant(distance, self._inner.environment.session) or distance
        if units == "ROWS":
            if not isinstance(distance, Literal) or not isinstance(distance.type, IntegralType) or distance.value < 0:
                raise invalid(bound.distance.span, "ROWS value must be a non-negative integral constant")
        else:
            self._check_range(distance, bound, order_by)
        return FrameBound("PRECEDING" if isinstance(bound, nodes.Preceding) else "FOLLOWING", distance)

    def _check_range(
        self, distance: Expression, bound: nodes.Preceding | nodes.Following, order_by: Sequence[OrderKey]
    ) -> None:
        if len(order_by) > 1:
            raise invalid(bound.span, "RANGE clause cannot be used with compound ORDER BY clause")
        if not order_by:
            raise invalid(bound.span, "Window specification must contain an ORDER BY clause")
        ordered = order_by[0].expression.type
        is_text = isinstance(distance.type, CharType | VarCharType)
        if is_text or isinstance(ordered, NumericType) != isinstance(distance.type, NumericType):
            raise invalid(bound.distance.span, "Data Type mismatch between ORDER BY and RANGE clause")
