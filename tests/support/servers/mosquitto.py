"""Mosquitto, a broker of MQTT."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from support.servers.debian import program
from support.servers.process import ServerProcess


class MosquittoServer(ServerProcess):
    """Mosquitto, which keeps sessions; it writes them to disk once a second at the earliest, so do not kill it."""

    def prepare(self) -> None:
        self._program = program("mosquitto", "mosquitto")
        self.directory.chmod(0o777)
        (self.directory / "conf").write_text(
            f"listener {self.port} 127.0.0.1\nallow_anonymous true\nmax_queued_messages 0\nmax_inflight_messages 0\n"
            f"persistence true\npersistence_location {self.directory}/\nautosave_on_changes true\n"
            "autosave_interval 1\n"
        )

    def command(self) -> Sequence[str | Path]:
        return [self._program, "-c", self.directory / "conf"]
