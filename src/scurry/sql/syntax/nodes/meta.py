"""The decorator of node classes: frozen, with slots, compared by content.

``dataclasses`` would do, but takes a millisecond per class, a quarter of a second for the tree. Here a constructor is
compiled when the first node of its class is made, so importing the tree takes a hundredth of that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple, dataclass_transform

REQUIRED: Final = object()


class NodeField(NamedTuple):
    """An attribute of a node class.

    Attributes:
        default: Its default value, or ``REQUIRED``.
        kw_only: Whether the constructor takes it by keyword only.
        compare: Whether it takes part in equality and ``repr``.
    """

    name: str
    default: Any = REQUIRED
    kw_only: bool = False
    compare: bool = True


def field(*, default: Any = REQUIRED, kw_only: bool = False, compare: bool = True) -> Any:
    """Describe an attribute of a node class; see ``NodeField``."""
    return NodeField("", default, kw_only, compare)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class NodeType(type):
    """The class of node classes: turns their annotations into slots and a constructor."""

    node_fields: tuple[NodeField, ...]

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> NodeType:
        """Make a class: each annotation is a field."""
        own = []
        for attribute in namespace.get("__annotations__", ()):
            given = namespace.pop(attribute, REQUIRED)
            options = given[1:] if isinstance(given, NodeField) else (given,)
            own.append(NodeField(attribute, *options))
        inherited = next((base.node_fields for base in bases if isinstance(base, NodeType)), ())
        every = (*inherited, *own)
        namespace["__slots__"] = tuple(each.name for each in own)
        namespace["__match_args__"] = tuple(each.name for each in every if not each.kw_only)
        namespace["__init__"] = _compile_and_initialize
        made = super().__new__(mcs, name, bases, namespace)
        made.node_fields = every
        return made


def _compile_and_initialize(self: Any, *args: Any, **kwargs: Any) -> None:
    """Stand in for a constructor until the first node of its class is made."""
    made: Any = type(self)
    constructor = _constructor(made)
    type.__setattr__(made, "__init__", constructor)
    constructor(self, *args, **kwargs)


def _constructor(made: NodeType) -> Callable[..., None]:
    known: dict[str, Any] = {}
    positional, keyword, body = ["self"], list[str](), list[str]()
    for number, each in enumerate(made.node_fields):
        # The descriptor of a slot writes past the __setattr__ that makes nodes frozen.
        known[f"set_{number}"] = getattr(made, each.name).__set__
        known[f"default_{number}"] = each.default
        parameter = each.name if each.default is REQUIRED else f"{each.name}=default_{number}"
        (keyword if each.kw_only else positional).append(parameter)
        body.append(f"    set_{number}(self, {each.name})")
    parameters = ", ".join([*positional, *(["*", *keyword] if keyword else [])])
    exec("\n".join([f"def __init__({parameters}):", *body]), known)
    constructor: Callable[..., None] = known["__init__"]
    constructor.__qualname__ = f"{made.__qualname__}.__init__"
    return constructor
