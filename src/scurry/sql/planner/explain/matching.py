"""MATCH_RECOGNIZE as EXPLAIN shows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from scurry.sql.plan.expressions import Call, Expression, InputReference
from scurry.sql.plan.matching import Definition, Match, MatchTime, PatternAggregate, PatternReference
from scurry.sql.plan.nodes import SortKey
from scurry.sql.plan.pattern_stages import pattern_text
from scurry.sql.plan.rewriting import rewritten

_Text = Callable[[Expression], str]
_Column: TypeAlias = Callable[[PatternReference], str]


def logical_match_text(plan: Match, text: _Text) -> str:
    """Return the operation as the abstract syntax tree shows it, with columns by number.

    Args:
        text: Returns any other expression as text.
    """
    after = plan.after.kind if plan.after.variable is None else f"{plan.after.kind}(_UTF-16LE'{plan.after.variable}')"
    parts = [
        f"partition=[[{', '.join(map(str, plan.partition_by))}]]",
        f"order=[[{', '.join(map(_numbered_key, plan.order_by))}]]",
        f"outputFields=[[{', '.join(plan.schema.names)}]]",
        "allRows=[false]",
        f"after=[SKIP {after}]" if plan.after.variable else f"after=[FLAG(SKIP {after})]",
        f"pattern=[{pattern_text(plan.pattern)}]",
        "isStrictStarts=[false], isStrictEnds=[false]",
        *([] if plan.within is None else [f"interval=[{text(plan.within)}]"]),
        f"subsets=[[{', '.join(_names(names) for _, names in plan.subsets)}]]",
        f"patternDefinitions=[[{', '.join(_condition(each, text) for each in plan.definitions)}]]",
        f"inputFields=[[{', '.join(plan.input.schema.names)}]]",
    ]
    return f"LogicalMatch({', '.join(parts)})"


def physical_match_text(plan: Match, text: _Text) -> str:
    """Return the operation as the optimized plans show it, with columns by name.

    Args:
        text: Returns any other expression as text.
    """
    names = plan.input.schema.names
    after = plan.after.kind if plan.after.variable is None else f"{plan.after.kind} _UTF-16LE'{plan.after.variable}'"
    measures = [
        f"FINAL({_measure(each, names, text)}) AS {name}" for each, name in zip(plan.measures, plan.names, strict=True)
    ]
    order = ", ".join(f"{names[key.index]} {'DESC' if key.descending else 'ASC'}" for key in plan.order_by)
    subsets = ", ".join(f"{name} = ({', '.join(variables)})" for name, variables in plan.subsets)
    parts = [
        *([f"partitionBy=[{', '.join(names[key] for key in plan.partition_by)}]"] if plan.partition_by else []),
        *([f"orderBy=[{order}]"] if order else []),
        f"measures=[{', '.join(measures)}]",
        "rowsPerMatch=[ONE ROW PER MATCH]",
        f"after=[SKIP {after}]",
        f"pattern=[{pattern_text(plan.pattern)}]",
        *([f"subset=[{subsets}]"] if subsets else []),
        f"define=[{{{', '.join(f'{each.variable}={_condition(each, text)}' for each in plan.definitions)}}}]",
    ]
    return f"Match({', '.join(parts)})"


def _numbered_key(key: SortKey) -> str:
    direction = "DESC-nulls-last" if key.descending else "ASC-nulls-first"
    return f"{key.index} {direction}"


def _condition(definition: Definition, text: _Text) -> str:
    def column(node: PatternReference) -> str:
        own = node.variable == definition.variable and not node.is_navigated
        function = "PREV" if own else "FIRST" if node.first else "LAST"
        return f"{function}({node.variable}.${node.index}, {node.offset})"

    return _shown(definition.condition, column, lambda node: f"{node.variable}.${node.index}", text)


def _measure(measure: Expression, names: Sequence[str], text: _Text) -> str:
    def column(node: PatternReference) -> str:
        name = f"{node.variable}.{names[node.index]}"
        return f"{'FIRST' if node.first else 'LAST'}({name}, {node.offset})" if node.is_navigated else name

    return _shown(measure, column, column, text)


def _shown(expression: Expression, column: _Column, aggregated: _Column, text: _Text) -> str:
    """Return an expression of a match.

    Args:
        column: Returns the text of a column.
        aggregated: Returns the text of a column in an aggregate.
        text: How other expressions are shown.
    """
    if isinstance(expression, PatternReference):
        return column(expression)
    if isinstance(expression, PatternAggregate):
        call = expression.call
        arguments = [_argument(each, expression.variable, aggregated, text) for each in call.arguments]
        return f"{call.function}({', '.join(arguments)})"
    if isinstance(expression, MatchTime):
        return "MATCH_PROCTIME()" if expression.is_processing_time else "MATCH_ROWTIME()"
    if isinstance(expression, Call):
        arguments = [_shown(each, column, aggregated, text) for each in expression.arguments]
        shown = f"{expression.function}({', '.join(arguments)})"
        return f"{shown}:{expression.type.as_summary_string()}" if expression.function == "CAST" else shown
    return text(expression)


def _argument(argument: Expression, variable: str | None, column: _Column, text: _Text) -> str:
    """Return the argument of an aggregate: columns of the rows of its variable."""

    def replaced(node: Expression) -> Expression:
        return PatternReference(variable or "*", node.index, node.type) if isinstance(node, InputReference) else node

    return _shown(rewritten(argument, replaced), column, column, text)


def _names(names: Sequence[str]) -> str:
    return f"[{', '.join(names)}]"
