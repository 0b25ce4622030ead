"""Azurite, which answers as Azure Blob Storage does."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from scurry.common._process.directories import cache_directory
from support.servers.debian import INSTALLS, Unavailable
from support.servers.process import ServerProcess

#: npm's package of the server, 186 MB with all that it needs.
PACKAGE = "azurite@3.35.0"


class AzuriteServer(ServerProcess):
    """Azurite on loopback, whose data is on disk."""

    def prepare(self) -> None:
        self._home = _installed()

    def command(self) -> Sequence[str | Path]:
        here = ["--blobHost", "127.0.0.1", "--blobPort", str(self.port), "--location", str(self.directory / "data")]
        quiet = ["--silent", "--disableTelemetry", "--skipApiVersionCheck"]
        return ["node", self._home / "dist" / "src" / "blob" / "main.js", *here, *quiet]


def environment_of(port: int) -> dict[str, str]:
    """Return the environment of a job that reads and writes the store."""
    return {
        "AZURE_STORAGE_USE_EMULATOR": "true",
        "AZURITE_BLOB_STORAGE_URL": f"http://127.0.0.1:{port}",
        "AZURE_STORAGE_ALLOW_HTTP": "true",  # delta-rs
    }


def _installed() -> Path:
    if shutil.which("node") is None:
        raise Unavailable("node is not installed, which azurite needs")
    target = cache_directory() / "servers" / PACKAGE.replace("@", "-")
    found = target / "node_modules" / "azurite"
    if not found.exists() and os.environ.get(INSTALLS) and shutil.which("npm") is not None:
        install = ["npm", "install", "--silent", "--prefix", str(target), PACKAGE]
        done = subprocess.run(install, capture_output=True, text=True)
        if not found.exists():
            raise Unavailable(f"{PACKAGE} cannot be installed: {done.stderr.strip()[-500:]}")
    if not found.exists():
        raise Unavailable(
            f"Azurite is not installed: npm install --prefix {target} {PACKAGE}, or set {INSTALLS}=1 to let tests do it"
        )
    return found
