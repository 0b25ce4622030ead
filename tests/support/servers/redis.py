"""Redis."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from support.servers.debian import program
from support.servers.process import ServerProcess


class RedisServer(ServerProcess):
    """Redis that keeps everything it has confirmed over `kill`."""

    def prepare(self) -> None:
        self._program = program("redis-server", "redis-server")

    def command(self) -> Sequence[str | Path]:
        durable = ["--appendonly", "yes", "--appendfsync", "always", "--save", ""]
        return [self._program, "--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.directory, *durable]
