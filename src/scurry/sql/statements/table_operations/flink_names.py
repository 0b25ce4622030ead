"""Calls by the names that functions have in Flink's Table API: `call("charLength", ...)`, `call("plus", ...)`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scurry.errors import ValidationError
from scurry.sql.functions.aggregate.catalogue import lookup_aggregate
from scurry.sql.functions.catalogue import is_syntax, lookup
from scurry.sql.statements.table_operations.failures import placed
from scurry.sql.statements.table_operations.summary import CAMEL_CASE, NAMES, flink_name
from scurry.sql.syntax import nodes

_Arguments = Sequence[nodes.Expression]

_AGGREGATES = ("$SUM0", "STDDEV_POP", "STDDEV_SAMP", "VAR_POP", "VAR_SAMP")
#: Names in SQL by those of the Table API.
_SQL_NAMES = {
    **{flink_name(each): each for each in (*CAMEL_CASE, *_AGGREGATES)},
    **{flink: sql for sql, flink in NAMES.items()},
    "currentRowTimestamp": "CURRENT_ROW_TIMESTAMP",
    "isNotTrue": "IS NOT TRUE",
    "lowerCase": "LOWER",
    "randInteger": "RAND_INTEGER",
    "upperCase": "UPPER",
}
#: Functions without parentheses in SQL.
_VARIABLES = ("CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP")


def _between(arguments: _Arguments, negated: bool) -> nodes.Expression | None:
    if len(arguments) != 3:
        return None
    operand, low, high = arguments
    return nodes.Between(operand, low, high, negated)


def _overlaps(arguments: _Arguments, _: bool) -> nodes.Expression | None:
    if len(arguments) != 4:
        return None
    left, right = nodes.RowConstructor(tuple(arguments[:2])), nodes.RowConstructor(tuple(arguments[2:]))
    return nodes.BinaryOperation("OVERLAPS", left, right)


#: Functions that have a syntax of their own in SQL, and whether it is the negated form.
_FORMS: dict[str, tuple[Callable[[_Arguments, bool], nodes.Expression | None], bool]] = {
    "between": (_between, False),
    "notBetween": (_between, True),
    "in": (lambda given, _: nodes.In(given[0], tuple(given[1:])) if len(given) > 1 else None, False),
    "temporalOverlaps": (_overlaps, False),
}


def by_sql_name(call: nodes.Call) -> nodes.Expression:
    """Return a call of a built-in function by its name in the Table API as one by its name in SQL.

    Args:
        call: The call, of no function of a user.

    Raises:
        ValidationError: It is `cast`, whose type is no value.
    """
    name = call.name.last
    if not call.name.is_simple:
        return call
    if name in ("cast", "TRY_CAST", "reinterpretCast"):
        method = "try_cast" if name == "TRY_CAST" else "cast"
        raise ValidationError(f"A type is no argument of a call: write expression.{method}(data_type).{placed(call)}")
    arguments = [each for each in call.arguments if isinstance(each, nodes.Expression)]
    if name in _FORMS:
        make, negated = _FORMS[name]
        made = make(arguments, negated)
        return call if made is None else nodes.replace(made, span=call.span)
    known = (lookup(name) is not None and not is_syntax(name)) or lookup_aggregate(name) is not None
    found = _SQL_NAMES.get(name)
    if found is None or (known and found not in _VARIABLES):
        return call
    if found in _VARIABLES:
        return call if arguments else nodes.ContextVariable(found, span=call.span)
    return nodes.replace(call, name=nodes.Identifier((found,), span=call.name.span))
