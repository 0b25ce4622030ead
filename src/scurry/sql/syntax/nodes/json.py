"""JSON functions, whose arguments are separated by keywords."""

from __future__ import annotations

from scurry.sql.syntax.nodes.base import Expression, Node
from scurry.sql.syntax.nodes.functions import FunctionCall
from scurry.sql.syntax.nodes.types import TypeSpec


class JsonBehavior(Node):
    """The result ON EMPTY or ON ERROR.

    Attributes:
        kind: ``NULL``, ``ERROR``, ``DEFAULT``, ``EMPTY ARRAY``, ``EMPTY OBJECT``, ``TRUE``, ``FALSE`` or ``UNKNOWN``.
    """

    kind: str
    default: Expression | None = None


class JsonExists(Expression):
    """``JSON_EXISTS(context, path ... ON ERROR)``."""

    context: Expression
    path: Expression
    on_error: JsonBehavior | None = None


class JsonValue(Expression):
    """``JSON_VALUE(context, path RETURNING type ... ON EMPTY ... ON ERROR)``."""

    context: Expression
    path: Expression
    returning: TypeSpec | None = None
    on_empty: JsonBehavior | None = None
    on_error: JsonBehavior | None = None


class JsonQuery(Expression):
    """``JSON_QUERY(context, path RETURNING type ... WRAPPER ... ON EMPTY ... ON ERROR)``.

    ``wrapper`` is ``WITHOUT ARRAY``, ``WITH CONDITIONAL ARRAY`` or ``WITH UNCONDITIONAL ARRAY``.
    """

    context: Expression
    path: Expression
    returning: TypeSpec | None = None
    wrapper: str = "WITHOUT ARRAY"
    on_empty: JsonBehavior = JsonBehavior("NULL")
    on_error: JsonBehavior = JsonBehavior("NULL")


class JsonEntry(Node):
    """``KEY key VALUE value``.

    Attributes:
        key: The name.
        value: The value; ``FORMAT JSON`` after it is a ``UnaryOperation``.
    """

    key: Expression
    value: Expression


class JsonObject(Expression):
    """``JSON_OBJECT(KEY key VALUE value, ... NULL ON NULL)``.

    ``absent_on_null`` is False if nothing is said.
    """

    entries: tuple[JsonEntry, ...]
    absent_on_null: bool = False


class JsonArray(Expression):
    """``JSON_ARRAY(values ... ABSENT ON NULL)``.

    ``absent_on_null`` is True if nothing is said.
    """

    values: tuple[Expression, ...]
    absent_on_null: bool = True


class JsonObjectAggregate(FunctionCall):
    """``JSON_OBJECTAGG(KEY key VALUE value NULL ON NULL)``."""

    entry: JsonEntry
    absent_on_null: bool = False


class JsonArrayAggregate(FunctionCall):
    """``JSON_ARRAYAGG(value ABSENT ON NULL)``; keys of an ORDER BY within are ``within_group``."""

    value: Expression
    absent_on_null: bool = True
