"""SocketSource: lines of text from a TCP server."""

from __future__ import annotations

from dataclasses import dataclass

from scurry.common.typeinfo import TypeInformation, Types

__all__ = ["SocketSource"]


@dataclass(frozen=True)
class SocketSource:
    """Says where to connect; the runner reads. For trying things out: what a crash loses is lost.

    Attributes:
        host: The server's name.
        port: The server's port.
        delimiter: Text between records.
    """

    host: str
    port: int
    delimiter: str = "\n"

    bounded = False

    @property
    def produced_type(self) -> TypeInformation:
        """STRING."""
        return Types.STRING()
