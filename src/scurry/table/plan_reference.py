"""PlanReference: the location of a compiled plan."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

from scurry._dataclasses import dataclass
from scurry.common._api import ApiObject
from scurry.errors import UnsupportedError

__all__ = ["BytesContentPlanReference", "FilePlanReference", "JsonContentPlanReference", "PlanReference"]


class PlanReference(ApiObject):
    """The location of a compiled plan, which `TableEnvironment.load_plan` reads."""

    @staticmethod
    def from_file(path: str | Path) -> FilePlanReference:
        """Refer to a file.

        Args:
            path: Its path.
        """
        return FilePlanReference(Path(path))

    @staticmethod
    def from_json_string(json_string: str) -> JsonContentPlanReference:
        """Refer to a text.

        Args:
            json_string: The plan as JSON.
        """
        return JsonContentPlanReference(json_string)

    @staticmethod
    def from_smile_bytes(smile_bytes: bytes) -> NoReturn:
        """Refuse: plans are JSON.

        Raises:
            UnsupportedError: Always.
        """
        raise UnsupportedError("from_smile_bytes: plans are kept as JSON: PlanReference.from_json_string(...)")


@dataclass(frozen=True)
class FilePlanReference(PlanReference):
    """A plan in a file.

    Attributes:
        path: Path of the file.
    """

    path: Path

    def get_file(self) -> Path:
        """Return the path of the file, in full."""
        return self.path.resolve()

    def __str__(self) -> str:
        """Return a description with the path."""
        return f"Plan from file '{self.path}'"


@dataclass(frozen=True)
class JsonContentPlanReference(PlanReference):
    """A plan in a text.

    Attributes:
        content: The plan as JSON.
    """

    content: str

    def get_content(self) -> str:
        """Return the plan as JSON."""
        return self.content

    def __str__(self) -> str:
        """Return a description with the JSON text."""
        return f"Plan:\n{self.content}"


class BytesContentPlanReference(PlanReference):
    """A plan in Smile, which scurry does not read; `PlanReference.from_smile_bytes` refuses it."""
