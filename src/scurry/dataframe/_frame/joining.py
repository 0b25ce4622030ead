"""Joins of DataFrames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from scurry._dataclasses import dataclass
from scurry.dataframe._frame.base import FrameBase, column_of, identifier, refuse_unknown, require_frame, unused
from scurry.errors import ArgumentError, ArgumentTypeError
from scurry.sql.syntax import nodes
from scurry.table.expression import Expression
from scurry.table.expressions import call, col

_LEFT, _RIGHT = "__pf_left", "__pf_right"
_KINDS = ("inner", "left", "right", "full", "outer", "semi", "anti", "cross")
_WRONG_KIND = 'how must be one of "inner", "left", "right", "full", "outer", "semi", "anti", or "cross"'


@dataclass(frozen=True)
class Keys:
    """The keys or the condition by which the rows of two DataFrames belong together.

    Attributes:
        pairs: Keys of both sides: expressions over their columns.
        condition: A condition over the columns of both, or None.
        shared: The columns that are the same key on both sides.
    """

    pairs: tuple[tuple[Expression, Expression], ...]
    condition: Expression | None = None
    shared: tuple[str, ...] = ()


def keys_of(
    left: Sequence[str], right: Sequence[str], on: Any, left_on: Any, right_on: Any, names: tuple[str, str, str]
) -> Keys:
    """Return the keys of a join.

    Args:
        left: The columns of the left side.
        right: The columns of the right side.
        on: A name, a list of names, or a condition; None for none.
        left_on: A name, an expression or a list of names.
        right_on: As well, of the right side.
        names: How the three arguments are called, for messages.

    Raises:
        TypeError: An argument is something else.
        ValueError: They do not go together, or a column does not exist.
    """
    both, first, second = names
    if on is None and left_on is None and right_on is None:
        called = "join_asof()" if both == "by" else "join()"
        raise ArgumentError(f"{called} requires {both} or both {first} and {second}")
    if on is not None:
        if left_on is not None or right_on is not None:
            raise ArgumentError(f"{both} cannot be combined with {first} or {second}")
        if isinstance(on, Expression):
            return Keys((), on)
        chosen = _name_list(both, on)
        if len(set(chosen)) != len(chosen):
            raise ArgumentError(f"{both} must not contain duplicate column names")
        for each in chosen:
            refuse_unknown(both, each, left)
            refuse_unknown(both, each, right)
        return Keys(tuple((col(each), col(each)) for each in chosen), None, tuple(chosen))
    if left_on is None or right_on is None:
        raise ArgumentError(f"{first} and {second} must be provided together")
    lefts, rights = _key_list(first, left_on, left), _key_list(second, right_on, right)
    if len(lefts) != len(rights):
        raise ArgumentError(f"{first} and {second} must have the same number of keys")
    pairs = tuple(zip(lefts, rights, strict=True))
    shared = [
        one for one, other in ((column_of(a), column_of(b)) for a, b in pairs) if one is not None and one == other
    ]
    return Keys(pairs, None, tuple(dict.fromkeys(shared)))


def _name_list(argument: str, given: Any) -> list[str]:
    if isinstance(given, str):
        return [given]
    if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
        raise ArgumentTypeError(f"{argument} must be a string, an expression, or a list of strings")
    if not given:
        raise ArgumentError(f"{argument} must not be empty")
    return given


def _key_list(argument: str, given: Any, known: Sequence[str]) -> list[Expression]:
    if isinstance(given, Expression):
        return [given]
    names = _name_list(argument, given)
    for each in names:
        refuse_unknown(argument, each, known)
    return list(map(col, names))


class JoinMethods(FrameBase, check_arguments=False):
    """Joins of DataFrames."""

    def join(
        self, other: Self, *, on: Any = None, how: str = "inner", left_on: Any = None, right_on: Any = None
    ) -> Self:
        """Return the pairs of rows of two DataFrames that belong together.

        The columns are those of this one, then those of the other one without the keys that both share.

        Args:
            other: The other DataFrame.
            on: The key or keys that both have, or a condition over the columns of both.
            how: `inner`, `left`, `right`, `full` (or `outer`): which rows without a partner stay; `semi` and `anti`:
                rows of this one with and without partners; `cross`: all pairs.
            left_on: The key or keys of this one, where they have other names.
            right_on: Those of the other one.

        Raises:
            TypeError: An argument is something else.
            ValueError: The arguments do not go together, a key does not exist, or a name is in both.

        Example:
            ```python
            orders.join(customers, on="customer", how="left")
            ```
        """
        require_frame(other, FrameBase, "other must be a pyflink.dataframe.DataFrame")
        if not isinstance(how, str):
            raise ArgumentTypeError("how must be a string")
        if how not in _KINDS:
            raise ArgumentError(_WRONG_KIND)
        if other._table._environment is not self._table._environment:
            raise ArgumentError("DataFrames must belong to the same TableEnvironment")
        left, right = self._names, other._names
        if how == "cross":
            if not (on is left_on is right_on is None):
                raise ArgumentError("cross join does not accept on, left_on, or right_on")
            keys = Keys(())
        else:
            keys = keys_of(left, right, on, left_on, right_on, ("on", "left_on", "right_on"))
        if how in ("semi", "anti"):
            return self._filtered_by(other, keys, how == "anti")
        refuse_common(left, right, keys.shared, "join()")
        return self._pairs(other, keys, {"outer": "FULL"}.get(how, how.upper()))

    def _pairs(self, other: FrameBase, keys: Keys, kind: str, period: nodes.Expression | None = None) -> Self:
        """Return the pairs of a join, with each shared key once.

        Args:
            other: The other DataFrame.
            keys: The keys.
            kind: INNER, LEFT, RIGHT, FULL or CROSS.
            period: The time of a temporal join, None for others.
        """
        left, right = self._names, other._names
        renamed = {name: unused(f"__pf_right_{name}", [*left, *right]) for name in right if name in left}
        names = [renamed.get(name, name) for name in right]
        condition = condition_of(keys, renamed)

        def query(made: Any) -> nodes.Query:
            schema = plan_schema(self, other, names)
            on = None if condition is None else made.condition(condition._node, schema, "Join")
            second: nodes.TableExpression = made.table(other._table._plan)
            if period is not None:
                second = nodes.Snapshot(second, period)
            first = nodes.Alias(made.table(self._table._plan), identifier(_LEFT))
            places = {name: (_LEFT, name) for name in left}
            places |= {new: (_RIGHT, name) for name, new in zip(right, names, strict=True)}
            on = None if on is None else with_names(on, places)
            join = nodes.Join(kind, first, nodes.Alias(second, identifier(_RIGHT)), condition=on)
            items = (nodes.SelectItem(nodes.Identifier(place), identifier(name)) for name, place in places.items())
            return nodes.Select(tuple(items), join)

        joined = self._queried(query, [] if condition is None else [condition], other)
        if not renamed:
            return joined
        columns = [_shared(name, renamed[name], kind) if name in keys.shared else col(name) for name in left]
        others = [col(name) for name in right if name not in keys.shared]
        return self._of(joined._table.select(*columns, *others))

    def _filtered_by(self, other: FrameBase, keys: Keys, negated: bool) -> Self:
        """Return the rows with a partner, or those without one."""
        left, right = self._names, other._names
        renamed = {name: unused(f"__pf_right_{name}", [*left, *right]) for name in right if name in left}
        if keys.condition is not None:
            common = sorted({each for each in names_in(keys.condition._node) if each in renamed})
            if common:
                raise ArgumentError(
                    f"join() found columns of both DataFrames in its condition: {common}; "
                    "rename them with rename_columns() before joining"
                )
        names = [renamed.get(name, name) for name in right]
        condition = condition_of(keys, renamed)
        assert condition is not None, "such a join has keys"

        def query(made: Any) -> nodes.Query:
            on = made.condition(condition._node, plan_schema(self, other, names), "Join")
            second = nodes.Alias(made.table(other._table._plan), identifier(_RIGHT), tuple(map(identifier, names)))
            inner = nodes.Select((nodes.SelectItem(nodes.Star()),), second, where=on)
            exists: nodes.Expression = nodes.Exists(inner)
            if negated:
                exists = nodes.Call(identifier("NOT"), (exists,))
            return nodes.Select((nodes.SelectItem(nodes.Star()),), made.table(self._table._plan), where=exists)

        return self._queried(query, [condition], other)


def refuse_common(left: Sequence[str], right: Sequence[str], shared: Sequence[str], called: str) -> None:
    """Refuse columns that both sides have, and which are no shared keys.

    Raises:
        ValueError: There are some.
    """
    common = sorted(name for name in right if name in left and name not in shared)
    if common:
        raise ArgumentError(
            f"{called} found duplicate non-key columns {common}; rename them with rename_columns() before joining"
        )


def condition_of(keys: Keys, renamed: Mapping[str, str]) -> Expression | None:
    """Return the condition of a join, over columns of which those of the right side may have other names."""
    if keys.condition is not None:
        return keys.condition
    found: Expression | None = None
    for one, other in keys.pairs:
        equal = one == other._with_node(with_names(other._node, {old: (new,) for old, new in renamed.items()}))
        found = equal if found is None else found & equal
    return found


def plan_schema(left: FrameBase, right: FrameBase, names: Sequence[str]) -> Any:
    """Return the columns of both sides; those of the right one have other names."""
    from scurry.sql.plan.schema import Schema

    return left._table._plan.schema + Schema.of(names, right._table._plan.schema.types)


def with_names(node: Any, renamed: Mapping[str, tuple[str, ...]]) -> Any:
    """Return an expression whose columns have other names."""
    if isinstance(node, nodes.Identifier):
        return nodes.replace(node, names=(*renamed.get(node.names[0], node.names[:1]), *node.names[1:]))
    changes: dict[str, Any] = {}
    for each in type(node).node_fields:
        value = getattr(node, each.name)
        if (isinstance(node, nodes.Call | nodes.NamedArgument) and each.name == "name") or (
            isinstance(node, nodes.FieldAccess) and each.name == "field"
        ):
            continue
        if isinstance(value, nodes.Node):
            changes[each.name] = with_names(value, renamed)
        elif isinstance(value, tuple):
            changes[each.name] = tuple(
                with_names(one, renamed) if isinstance(one, nodes.Node) else one for one in value
            )
    return nodes.replace(node, **changes)


def names_in(node: nodes.Expression) -> set[str]:
    """Return the columns that an expression names."""
    from scurry.sql.statements.table_operations.failures import column_names

    return {each.names[0] for each in column_names(node)}


def _shared(left: str, right: str, kind: str) -> Expression:
    if kind == "RIGHT":
        return col(right).alias(left)
    if kind == "FULL":
        return call("COALESCE", col(left), col(right)).alias(left)
    return col(left)
