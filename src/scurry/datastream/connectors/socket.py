"""The path of SocketSource, which `env.socket_text_stream` uses."""

from __future__ import annotations

from scurry.connectors.socket import SocketSource

__all__ = ["SocketSource"]
