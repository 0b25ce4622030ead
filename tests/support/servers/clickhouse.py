"""ClickHouse's engine as a library, behind a small front with its HTTP interface: no registry has the server."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from scurry.common._process.directories import cache_directory
from support.servers.debian import INSTALLS, Unavailable
from support.servers.process import ServerProcess, answers

#: PyPI's package of the engine, 51 MB.
PACKAGE = "chdb-core-lite==26.5.0"
USER, PASSWORD = "ann", "szy7wszy7w"


class ClickHouseServer(ServerProcess):
    """The engine on loopback, whose data is on disk."""

    def prepare(self) -> None:
        self._home = _installed()

    def command(self) -> Sequence[str | Path]:
        front = Path(__file__).with_name("clickhouse_front.py")
        return [sys.executable, front, str(self.port), self.directory, USER, PASSWORD]

    def environment(self) -> dict[str, str]:
        return os.environ | {"PYTHONPATH": str(self._home)}

    def is_ready(self) -> bool:
        return answers(self.port)

    @property
    def url(self) -> str:
        """The address."""
        return f"http://127.0.0.1:{self.port}"

    def ask(self, statement: str) -> str:
        """Carry a statement out, and return its answer.

        Raises:
            RuntimeError: The server refuses it.
            OSError: The server does not answer.
        """
        login = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        request = urllib.request.Request(self.url, statement.encode(), {"Authorization": f"Basic {login}"})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                text: str = answer.read().decode()
                return text
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()) from None

    def options(self, table: str) -> dict[str, str]:
        """Return the options of a table."""
        where = {"connector": "clickhouse", "url": self.url, "table-name": table, "database-name": "shop"}
        return where | {"username": USER, "password": PASSWORD}


def _installed() -> Path:
    target = cache_directory() / "servers" / PACKAGE.replace("==", "-")
    if not (target / "chdb").exists() and os.environ.get(INSTALLS):
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target), PACKAGE]
        done = subprocess.run(install, capture_output=True, text=True)
        if not (target / "chdb").exists():
            raise Unavailable(f"{PACKAGE} cannot be installed: {done.stderr.strip()[-500:]}")
    if not (target / "chdb").exists():
        raise Unavailable(
            f"the engine of ClickHouse is not installed: pip install --no-deps --target {target} {PACKAGE}, or set "
            f"{INSTALLS}=1 to let tests do it"
        )
    return target
