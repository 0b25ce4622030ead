"""Tags of side outputs."""

from __future__ import annotations

from typing import Any


class OutputTag:
    """Names a side output: process functions emit into it by yielding ``(tag, value)``.

    Mirrors Flink's ``OutputTag`` (DataStream API, "Side Outputs"). Two tags with the same id are the same side output.

    Args:
        tag_id: The name, unique within the operator; must not be empty.
        type_info: Declared type of the side output's values; None means pickled Python objects.

    Raises:
        ValueError: If `tag_id` is empty.
    """

    #: True once any tag exists in this process: without one, the per-record path need not look for tags at all.
    in_use = False

    def __init__(self, tag_id: str, type_info: Any = None) -> None:
        if not tag_id:
            raise ValueError("OutputTag tag_id cannot be None or empty string")
        self.tag_id = tag_id
        if isinstance(type_info, list):  # PyFlink: a list of types means a row of them
            from scurry.common.typeinfo import RowTypeInfo

            type_info = RowTypeInfo(type_info)
        self.type_info = type_info
        OutputTag.in_use = True

    def __reduce__(self) -> tuple[Any, ...]:
        return OutputTag, (self.tag_id, self.type_info)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OutputTag) and other.tag_id == self.tag_id

    def __hash__(self) -> int:
        return hash(self.tag_id)

    def __repr__(self) -> str:
        return f"OutputTag({self.tag_id!r})"
