"""Side outputs: their tags, and dead letters, the records that an operator or a source could not process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic

from scurry._dataclasses import dataclass
from scurry.common._type_variables import T_co
from scurry.errors import ArgumentTypeError

if TYPE_CHECKING:
    from scurry.common.typeinfo import TypeInformation

__all__ = ["DeadLetter"]


class OutputTag(Generic[T_co]):
    """Name of a side output: process functions emit into it by yielding ``(tag, value)``.

    Mirrors Flink's ``OutputTag`` (DataStream API, "Side Outputs"). Two tags with the same id are the same side output.

    Args:
        tag_id: The name, unique within the operator; must not be empty.
        type_info: Declared type of the side output's values, or a list of types for rows of them; None means pickled
            Python objects.

    Raises:
        ValueError: If `tag_id` is empty.
        ArgumentTypeError: If `type_info` is none of these.
    """

    #: True once any tag exists in this process; until then, the per-record path does not look for tags.
    in_use = False

    def __init__(self, tag_id: str, type_info: TypeInformation[T_co] | list[TypeInformation] | None = None) -> None:
        if not tag_id:
            raise ValueError("OutputTag tag_id cannot be None or empty string")
        self.tag_id = tag_id
        self.declared = _declared(type_info)
        OutputTag.in_use = True

    def __reduce__(self) -> tuple[Any, ...]:
        return OutputTag, (self.tag_id, self.declared)

    @property
    def type_info(self) -> TypeInformation:
        """The type of the side output's values; pickled Python objects if none was declared."""
        from scurry.common.typeinfo import Types

        return self.declared or Types.PICKLED_BYTE_ARRAY()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OutputTag) and other.tag_id == self.tag_id

    def __hash__(self) -> int:
        return hash(self.tag_id)

    def __repr__(self) -> str:
        return f"OutputTag({self.tag_id!r})"


def _declared(type_info: Any) -> TypeInformation | None:
    from scurry.common.typeinfo import RowTypeInfo, TypeInformation

    if type_info is None or isinstance(type_info, TypeInformation):
        return type_info
    if isinstance(type_info, list):
        return RowTypeInfo(type_info)
    raise ArgumentTypeError(
        f"OutputTag type_info must be None, list or TypeInformation such as Types.STRING(), not {type_info!r}"
    )


@dataclass(frozen=True)
class DeadLetter:
    """A failed record that `with_dead_letters` emits instead of failing the job, with the record's timestamp.

    Attributes:
        record: The record as the operator received it; of a source the malformed text of a file or bytes of a message.
        error: Name of the exception's class.
        message: The exception's message.
        operator: Name of the operator.
        uid: The operator's uid.
        traceback: The whole traceback, as text.
        place: Of a source, the file, or topic, partition and offset; else None.
        line: Of a source, the line in the file, from 1; None if there are no lines.
    """

    record: Any
    error: str
    message: str
    operator: str
    uid: str
    traceback: str
    place: str | None = None
    line: int | None = None
