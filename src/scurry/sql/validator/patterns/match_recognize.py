"""MATCH_RECOGNIZE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from scurry._dataclasses import dataclass
from scurry.errors import ValidationError
from scurry.sql.plan.expressions import Expression, InputReference, Literal
from scurry.sql.plan.matching import (
    ALL_VARIABLES,
    AfterMatch,
    Definition,
    Match,
    MatchPattern,
    PatternOperation,
    PatternQuantifier,
    PatternReference,
    PatternVariable,
)
from scurry.sql.plan.nodes import Plan, SortKey
from scurry.sql.plan.rewriting import rewritten
from scurry.sql.syntax import nodes
from scurry.sql.types import BooleanType
from scurry.sql.types.families import TIMESTAMP
from scurry.sql.validator.environment import Environment
from scurry.sql.validator.expressions import ExpressionValidator
from scurry.sql.validator.failures import invalid
from scurry.sql.validator.literals import literal
from scurry.sql.validator.patterns.navigation import MatchExpressions
from scurry.sql.validator.patterns.operands import merged_span
from scurry.sql.validator.scope import Found, Relation, Scope


@dataclass
class MatchScope(Scope):
    """The columns that names mean in MEASURES and DEFINE: those of rows that variables have taken.

    Attributes:
        variables: The variables that are known so far.
    """

    variables: set[str] = field(default_factory=set)

    def find(self, identifier: nodes.Identifier) -> Found | None:
        """Return the column that a name means; one without a variable is of the rows of all of them."""
        names = identifier.names
        if len(names) > 1 and names[0] in self.variables:
            of_variable = Scope(self.schema, (Relation(names[0], (), 0, len(self.schema)),))
            found = self._column_of_variable(identifier, of_variable)
        else:
            found = super().find(identifier)
        if found is None:
            return None
        # A name of a table is that of a variable, too, which takes no rows.
        variable = names[0] if found.parts > 1 else ALL_VARIABLES
        return Found(_of_variable(found.expression, variable), found.parts)

    def _column_of_variable(self, identifier: nodes.Identifier, scope: Scope) -> Found | None:
        """Return a column of a variable.

        Raises:
            ValidationError: The column does not exist; the error points at the last part of a longer name.
        """
        names = identifier.names
        if len(names) > 2:
            column = scope.find(nodes.Identifier(names[:2])) if names[1] in self.schema.names else None
            fields = getattr(column.expression.type, "names", ()) if column is not None else ()
            if names[2] not in fields:
                span = identifier.part_spans[-1] if identifier.part_spans else identifier.span
                raise invalid(span, f"Column '{names[-1]}' not found in table '{'.'.join(names[:-1])}'")
        return scope.find(identifier)


def _of_variable(expression: Expression, variable: str) -> Expression:
    def replaced(node: Expression) -> Expression:
        return PatternReference(variable, node.index, node.type) if isinstance(node, InputReference) else node

    return rewritten(expression, replaced)


def match(node: nodes.MatchRecognize, plan: Plan, relations: tuple[Relation, ...], environment: Environment) -> Match:
    """Return the plan of MATCH_RECOGNIZE.

    Args:
        node: What was written.
        relations: The tables their columns belong to.
        environment: Where it stands.

    Raises:
        ValidationError: Something in it is wrong.
    """
    columns = ExpressionValidator(Scope(plan.schema, relations, outer=environment.outer), environment)
    partition_by = tuple(_column(each, columns, "PARTITION BY") for each in node.partition_by)
    order_by = tuple(_sort_key(each, columns) for each in node.order_by)
    scope = MatchScope(plan.schema, relations, outer=environment.outer)
    scope.variables |= {each.name.last for each in nodes.walk(node.pattern) if isinstance(each, nodes.PatternVariable)}
    within = None if node.within is None else _within(node.within, order_by, plan)
    definitions = _definitions(node.definitions, scope, environment)
    subsets = _subsets(node.subsets, scope)
    after = _after(node.after_match, scope)
    measures = [MatchExpressions(scope, environment).measure(each.expression) for each in node.measures]
    names = tuple(each.name.last for each in node.measures)
    if (node.rows_per_match or "").startswith("ALL"):
        raise ValidationError("All rows per match mode is not supported yet.")
    _check_names([plan.schema[key].name for key in partition_by], names, measures)
    return Match(
        plan,
        partition_by,
        order_by,
        tuple(measures),
        names,
        _pattern(node.pattern),
        definitions,
        after,
        within,
        subsets,
    )


def _check_names(keys: Sequence[str], names: Sequence[str], measures: Sequence[Expression]) -> None:
    ambiguous = [name for name in keys if name in names]
    if not names or (ambiguous and len(set(names)) == len(names)):
        raise ValidationError(f"Columns ambiguously defined: {{{', '.join(ambiguous)}}}")
    later: dict[str, Expression] = {}
    for name, measure in zip(reversed(names), reversed(measures), strict=True):
        if name in later:
            both = f"{name}={_shown(later[name])} and {name}={_shown(measure)}"
            raise ValidationError(f"Multiple entries with same key: {both}")
        later[name] = measure


def _shown(measure: Expression) -> str:
    """Return a measure as Calcite shows it; of others than columns the kind only."""
    if not isinstance(measure, PatternReference):
        return "FINAL(...)"
    column = f"{measure.variable}.${measure.index}"
    if measure.is_navigated:
        column = f"{'FIRST' if measure.first else 'LAST'}({column}, {measure.offset})"
    return f"FINAL({column})"


def _column(node: nodes.Expression, validator: ExpressionValidator, clause: str) -> int:
    found = validator.convert(node) if isinstance(node, nodes.Identifier) else None
    if not isinstance(found, InputReference):
        raise invalid(node.span, f"{clause} of MATCH_RECOGNIZE takes columns of the table only")
    return found.index


def _sort_key(item: nodes.OrderItem, validator: ExpressionValidator) -> SortKey:
    index = _column(item.expression, validator, "ORDER BY")
    if item.nulls is not None:
        raise invalid(item.span, "ORDER BY of MATCH_RECOGNIZE takes neither NULLS FIRST nor NULLS LAST")
    return SortKey(index, item.descending, not item.descending)


def _within(node: nodes.Expression, order_by: Sequence[SortKey], plan: Plan) -> Literal:
    assert isinstance(node, nodes.IntervalLiteral)
    found = literal(node)
    # A minus within the quotes is none to Calcite: such a time limits nothing.
    if node.negative and found.value:
        raise invalid(node.span, f"Interval must be non-negative '{node.text}'")
    if not order_by:
        raise invalid(node.span, "Must contain an ORDER BY clause when WITHIN is used")
    if not isinstance(plan.schema[order_by[0].index].type, TIMESTAMP):
        raise invalid(node.span, "First column of ORDER BY must be of type TIMESTAMP")
    return found


def _definitions(
    written: Sequence[nodes.PatternDefinition], scope: MatchScope, environment: Environment
) -> tuple[Definition, ...]:
    known: set[str] = set()
    for each in written:
        if each.variable.last in known:
            raise invalid(each.span, f"Pattern variable '{each.variable.last}' has already been defined")
        known.add(each.variable.last)
    scope.variables |= known
    found = []
    for each in written:
        expressions = MatchExpressions(scope, environment, each.variable.last)
        condition = expressions.condition(each.condition)
        if not isinstance(condition.type, BooleanType):
            raise invalid(merged_span(each.condition), "DEFINE clause must be a condition")
        found.append(Definition(each.variable.last, condition))
    return tuple(found)


def _subsets(written: Sequence[nodes.PatternSubset], scope: MatchScope) -> tuple[tuple[str, tuple[str, ...]], ...]:
    found = []
    for each in written:
        name = each.name.last
        if name in scope.variables:
            raise invalid(each.name.span, f"Pattern variable '{name}' has already been defined")
        scope.variables.add(name)
        for variable in each.variables:
            _known(variable, scope)
        found.append((name, tuple(sorted({variable.last for variable in each.variables}))))
    return tuple(found)


def _after(written: nodes.SkipAfterMatch | None, scope: MatchScope) -> AfterMatch:
    if written is None:
        return AfterMatch("TO NEXT ROW")
    if written.variable is None:
        return AfterMatch(written.to)
    return AfterMatch(written.to, _known(written.variable, scope))


def _known(variable: nodes.Identifier, scope: MatchScope) -> str:
    if variable.last not in scope.variables:
        raise invalid(variable.span, f"Unknown pattern '{variable.last}'")
    return variable.last


def _pattern(node: nodes.Pattern) -> MatchPattern:
    if isinstance(node, nodes.PatternVariable):
        return PatternVariable(node.name.last)
    if isinstance(node, nodes.PatternQuantifier):
        return PatternQuantifier(_pattern(node.operand), node.low, node.high, node.reluctant)
    if isinstance(node, nodes.PatternConcatenation):
        return PatternOperation("", (_pattern(node.left), _pattern(node.right)))
    if isinstance(node, nodes.PatternAlternation):
        return PatternOperation("|", (_pattern(node.left), _pattern(node.right)))
    if isinstance(node, nodes.PatternExclusion):
        return PatternOperation("PATTERN_EXCLUDE", (_pattern(node.operand),))
    assert isinstance(node, nodes.PatternPermutation)
    return PatternOperation("PATTERN_PERMUTE", tuple(map(_pattern, node.operands)))
